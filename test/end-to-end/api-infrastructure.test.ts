/** Hosts from telemetry of agents with current and former names, compared with arithmetic by hand. */
import test from 'ava';
import { parsePage } from '../../subjects/infrastructure/paging.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Agent, agentOf, flat, growing, type Labels, type Metric } from './infrastructure-senders.ts';

const GiB = 1024 ** 3;
let harness: Harness;
const nowMs = Math.floor(Date.now() / 1000) * 1000;
const minuteMs = 60_000;
/** One point per 30 seconds of the last 8 minutes. */
const times = Array.from({ length: 16 }, (_, at) => nowMs - (15 - at) * 30_000);
const ended = (agoMs: number): number[] => times.map((atMs) => atMs - agoMs);

/** Two CPUs, each 25 % busy: 0.15 user, 0.10 system, 0.05 waiting, 0.70 idle. */
const uptimeSeconds = 7200;
const modes = { user: 0.15, system: 0.1, wait: 0.05, idle: 0.7 };

/** Metrics of the collector's hostmetrics receiver, with its own `names` or those of the semantic conventions. */
const hostmetrics = (at: readonly number[], names: 'receiver' | 'semconv'): Metric[] => {
  const key = (receiver: string, semconv: string): string => (names === 'receiver' ? receiver : semconv);
  const mode = key('state', 'cpu.mode');
  const of = (
    label: string,
    values: Readonly<Record<string, number>>,
    along: (value: number) => Metric['points'][number]['values'],
    more: Labels = {},
  ) =>
    Object.entries(values).map(([value, number]) => ({ labels: { ...more, [label]: value }, values: along(number) }));
  const filesystem = (device: string, mountpoint: string, type: string, used: number, free: number) =>
    of(key('state', 'system.filesystem.state'), { used, free, reserved: GiB }, (value) => flat(at, value), {
      [key('device', 'system.device')]: device,
      [key('mountpoint', 'system.filesystem.mountpoint')]: mountpoint,
      [key('type', 'system.filesystem.type')]: type,
    });
  const interfaceLabel = key('device', 'network.interface.name');
  return [
    {
      name: 'system.cpu.time',
      unit: 's',
      kind: 'counter',
      points: ['0', '1'].flatMap((cpu) =>
        of(mode, modes, (share) => growing(at, share), { [key('cpu', 'cpu.logical_number')]: cpu }),
      ),
    },
    {
      name: 'system.memory.usage',
      unit: 'By',
      kind: 'amount',
      points: of(
        key('state', 'system.memory.state'),
        { used: 6 * GiB, free: 1 * GiB, [key('buffered', 'buffers')]: GiB / 2, cached: GiB / 2 },
        (value) => flat(at, value),
      ),
    },
    {
      name: 'system.filesystem.usage',
      unit: 'By',
      kind: 'amount',
      points: [
        ...filesystem('/dev/sda1', '/', 'ext4', 30 * GiB, 70 * GiB),
        ...filesystem('/dev/sda1', '/var/lib/docker', 'ext4', 30 * GiB, 70 * GiB),
        ...filesystem('tmpfs', '/run', 'tmpfs', GiB, GiB),
        ...filesystem('/dev/sdb1', '/data', 'xfs', 10 * GiB, 90 * GiB),
      ],
    },
    {
      name: 'system.disk.io',
      unit: 'By',
      kind: 'counter',
      points: ['sda', 'sda1', 'sdb', 'dm-0'].flatMap((device) =>
        of(key('direction', 'disk.io.direction'), { read: 1000, write: 2000 }, (value) => growing(at, value), {
          [key('device', 'system.device')]: device,
        }),
      ),
    },
    {
      name: 'system.network.io',
      unit: 'By',
      kind: 'counter',
      points: ['eth0', 'lo', 'veth12'].flatMap((name) =>
        of(key('direction', 'network.io.direction'), { receive: 500, transmit: 300 }, (value) => growing(at, value), {
          [interfaceLabel]: name,
        }),
      ),
    },
    { name: 'system.cpu.load_average.1m', kind: 'gauge', points: [{ values: flat(at, 1.5) }] },
    { name: 'system.uptime', unit: 's', kind: 'gauge', points: [{ values: flat(at, uptimeSeconds) }] },
  ];
};

/** The same host as node_exporter reports it. */
const nodeExporter = (at: readonly number[], labels: Labels, isFormer: boolean) => {
  const name = (today: string, former: string): string => (isFormer ? former : today);
  const filesystem = (device: string, mountpoint: string, fstype: string, size: number, avail: number) =>
    (
      [
        ['size', size],
        ['free', avail + GiB],
        ['avail', avail],
      ] as const
    ).map(([what, value]) => ({
      name: name(`node_filesystem_${what}_bytes`, `node_filesystem_${what}`),
      labels: { ...labels, device, mountpoint, fstype },
      values: flat(at, value),
    }));
  return [
    ...['0', '1'].flatMap((cpu) =>
      Object.entries({ ...modes, iowait: modes.wait, wait: 0 }).map(([mode, share]) => ({
        name: name('node_cpu_seconds_total', 'node_cpu'),
        labels: { ...labels, cpu, mode },
        values: growing(at, share),
      })),
    ),
    { name: name('node_memory_MemTotal_bytes', 'node_memory_MemTotal'), labels, values: flat(at, 8 * GiB) },
    { name: name('node_memory_MemAvailable_bytes', 'node_memory_MemAvailable'), labels, values: flat(at, 2 * GiB) },
    ...filesystem('/dev/sda1', '/', 'ext4', 101 * GiB, 70 * GiB),
    ...filesystem('/dev/sdb1', '/data', 'xfs', 101 * GiB, 90 * GiB),
    ...filesystem('tmpfs', '/run', 'tmpfs', 2 * GiB, GiB),
    ...['sda', 'sdb'].flatMap((device) => [
      {
        name: name('node_disk_read_bytes_total', 'node_disk_bytes_read'),
        labels: { ...labels, device },
        values: growing(at, 1000),
      },
      {
        name: name('node_disk_written_bytes_total', 'node_disk_bytes_written'),
        labels: { ...labels, device },
        values: growing(at, 2000),
      },
    ]),
    ...['eth0', 'lo', 'docker0'].flatMap((device) => [
      {
        name: name('node_network_receive_bytes_total', 'node_network_receive_bytes'),
        labels: { ...labels, device },
        values: growing(at, 500),
      },
      {
        name: name('node_network_transmit_bytes_total', 'node_network_transmit_bytes'),
        labels: { ...labels, device },
        values: growing(at, 300),
      },
    ]),
    { name: 'node_load1', labels, values: flat(at, 1.5) },
    {
      name: name('node_boot_time_seconds', 'node_boot_time'),
      labels,
      values: flat(at, Math.max(...at) / 1000 - uptimeSeconds),
    },
    {
      name: 'node_uname_info',
      labels: {
        ...labels,
        nodename: labels['instance'] === '10.0.0.7:9100' ? 'scraped' : (labels['instance']?.split(':')[0] ?? ''),
        sysname: 'Linux',
        machine: 'x86_64',
      },
      values: flat(at, 1),
    },
  ];
};

const dayMs = 86_400_000;
/** Each hour of 6 days. */
const hours = Array.from({ length: 6 * 24 + 1 }, (_, at) => nowMs - (6 * 24 - at) * 3_600_000);

/** Hourly disk usage of a host: one disk grows 5 GiB a day, one is constant, one is an export of another machine. */
const filling = (
  device: string,
  type: string,
  mountpoint: string,
  used: (atMs: number) => number,
  free: (atMs: number) => number,
): Metric['points'] =>
  (
    [
      ['used', used],
      ['free', free],
    ] as const
  ).map(([state, of]) => ({
    labels: { state, device, type, mountpoint, mode: 'rw' },
    values: hours.map((atMs) => [atMs, of(atMs)] as const),
  }));
const grown = (atMs: number): number => 70 * GiB - (5 * GiB * (nowMs - atMs)) / dayMs;

let a: Agent;
test.before(async () => {
  harness = await startHarness({ projects: ['shop', 'other'] });
  a = agentOf(harness.columns, 'a');
  const b = agentOf(harness.columns, 'b');
  const cloud = {
    'cloud.provider': 'aws',
    'cloud.region': 'eu-west-1',
    'host.type': 'm7g.large',
    'os.type': 'linux',
    'host.arch': 'arm64',
  };
  await a.metrics({ 'host.name': 'now', 'host.id': 'i-1', ...cloud }, hostmetrics(times, 'semconv'));
  await a.metrics({ 'host.name': 'receiver' }, hostmetrics(times, 'receiver'));
  await a.remoteWrite(nodeExporter(times, { instance: '10.0.0.7:9100', job: 'node' }, false));
  await a.remoteWrite(nodeExporter(times, { instance: 'former:9100', job: 'node' }, true));
  // Silent for 20 minutes, including its logs.
  await a.metrics({ 'host.name': 'gone' }, hostmetrics(ended(20 * minuteMs), 'receiver'), nowMs - 20 * minuteMs);
  await a.logs({ 'host.name': 'gone' }, [{ atMs: nowMs - 21 * minuteMs, body: { stringValue: 'last words' } }]);
  // Only its metrics stopped.
  await a.metrics({ 'host.name': 'mute' }, hostmetrics(ended(20 * minuteMs), 'receiver'), nowMs - 20 * minuteMs);
  await a.logs({ 'host.name': 'mute' }, [{ atMs: nowMs - minuteMs, body: { stringValue: 'still here' } }]);
  // Never had metrics.
  await a.logs({ 'host.name': 'logger', 'service.name': 'x' }, [
    { atMs: nowMs - minuteMs, body: { stringValue: 'x' } },
  ]);
  // An SDK in a container reports the host name of the container.
  await a.logs({ 'host.name': 'cart-5d9', 'k8s.pod.name': 'cart-5d9' }, [{ atMs: nowMs, body: { stringValue: 'x' } }]);
  await agentOf(harness.columns, 'a', { projectId: 'other' }).metrics(
    { 'host.name': 'elsewhere' },
    hostmetrics(times, 'receiver'),
  );
  // Two hosts with the same name in another project; a log record of one is later than its last point.
  const others = agentOf(harness.columns, 'a', { projectId: 'other' });
  for (const id of ['t-1', 't-2'])
    await others.metrics({ 'host.name': 'twin', 'host.id': id }, hostmetrics(ended(2 * minuteMs), 'receiver'));
  await others.logs({ 'host.name': 'twin', 'host.id': 't-1' }, [
    { atMs: nowMs - minuteMs, body: { stringValue: 'x' } },
  ]);
  const process = (pid: string, name: string, cores: number, bytes: number, isFormer: boolean) =>
    a.metrics(
      { 'host.name': 'receiver', 'process.pid': pid, 'process.executable.name': name, 'process.owner': 'root' },
      [
        {
          name: 'process.cpu.time',
          unit: 's',
          kind: 'counter',
          points: (['user', 'system'] as const).map((mode) => ({
            labels: { [isFormer ? 'state' : 'cpu.mode']: mode },
            values: growing(times, cores / 2),
          })),
        },
        {
          name: isFormer ? 'process.memory.physical_usage' : 'process.memory.usage',
          unit: 'By',
          kind: 'amount',
          points: [{ values: flat(times, bytes) }],
        },
        {
          name: isFormer ? 'process.threads' : 'process.thread.count',
          kind: 'amount',
          points: [{ values: flat(times, 7) }],
        },
      ],
    );
  await process('10', 'postgres', 1.5, 2 * GiB, false);
  await process('11', 'nginx', 0.25, 3 * GiB, true);
  await a.remoteWrite([
    {
      name: 'process_cpu_seconds_total',
      labels: { job: 'api', instance: '10.0.0.7:8080' },
      values: growing(times, 0.5),
    },
    {
      name: 'process_resident_memory_bytes',
      labels: { job: 'api', instance: '10.0.0.7:8080' },
      values: flat(times, GiB),
    },
  ]);
  const store = (host: string, metrics: Metric['points']) =>
    a.metrics(
      { 'host.name': host },
      [{ name: 'system.filesystem.usage', unit: 'By', kind: 'amount', points: metrics }],
      nowMs,
    );
  const share = filling(
    'filer:/export',
    'nfs4',
    '/mnt',
    () => 40 * GiB,
    () => 60 * GiB,
  );
  await store('store', [
    ...filling('/dev/vda1', 'ext4', '/', grown, (atMs) => 100 * GiB - grown(atMs)),
    // The same disk under another name.
    ...filling('/dev/root', 'ext4', '/', grown, (atMs) => 100 * GiB - grown(atMs)),
    ...filling(
      '/dev/vdb1',
      'ext4',
      '/still',
      () => GiB,
      () => 9 * GiB,
    ),
    ...share,
  ]);
  await store('second', share);
  await a.metrics(
    {
      'k8s.pod.name': 'db-0',
      'k8s.pod.uid': 'u1',
      'k8s.namespace.name': 'db',
      'k8s.volume.name': 'data',
      'k8s.persistentvolumeclaim.name': 'data-db-0',
      'k8s.volume.type': 'persistentVolumeClaim',
    },
    [
      { name: 'k8s.volume.capacity', kind: 'gauge', points: [{ values: hours.map((atMs) => [atMs, 10 * GiB]) }] },
      {
        name: 'k8s.volume.available',
        kind: 'gauge',
        points: [{ values: hours.map((atMs) => [atMs, 4 * GiB + (GiB * (nowMs - atMs)) / dayMs]) }],
      },
    ],
  );
  await a.metrics(
    { 'container.id': 'c1', 'container.name': 'redis', 'container.image.name': 'redis:7', 'cloud.provider': 'aws' },
    [
      { name: 'container.cpu.usage.total', unit: 'ns', kind: 'counter', points: [{ values: growing(times, 0.5e9) }] },
      { name: 'container.memory.usage.total', unit: 'By', kind: 'amount', points: [{ values: flat(times, GiB) }] },
    ],
  );
  await a.remoteWrite(
    ['cart', '', 'POD'].flatMap((container) => [
      {
        name: 'container_cpu_usage_seconds_total',
        labels: { container, namespace: 'shop', pod: 'cart-1', cpu: 'total', instance: 'n1:10250' },
        values: growing(times, 2),
      },
      {
        name: 'container_memory_working_set_bytes',
        labels: { container, namespace: 'shop', pod: 'cart-1', instance: 'n1:10250' },
        values: flat(times, 3 * GiB),
      },
    ]),
  );
  // A node reported only by its kubelet, with a volume that is a directory of it.
  await a.metrics({ 'k8s.node.name': 'kubelet' }, [
    { name: 'k8s.node.filesystem.capacity', kind: 'gauge', points: [{ values: flat(times, 100 * GiB) }] },
    { name: 'k8s.node.filesystem.available', kind: 'gauge', points: [{ values: flat(times, 75 * GiB) }] },
    { name: 'k8s.node.cpu.usage', kind: 'gauge', points: [{ values: flat(times, 1) }] },
  ]);
  await a.metrics(
    {
      'k8s.pod.uid': 'u2',
      'k8s.pod.name': 'x',
      'k8s.namespace.name': 'db',
      'k8s.volume.name': 'config',
      'k8s.volume.type': 'configMap',
    },
    [
      { name: 'k8s.volume.capacity', kind: 'gauge', points: [{ values: flat(times, 100 * GiB) }] },
      { name: 'k8s.volume.available', kind: 'gauge', points: [{ values: flat(times, 75 * GiB) }] },
    ],
  );
  await b.metrics({ 'host.name': 'canary-of-b', 'host.id': 'i-1' }, hostmetrics(times, 'receiver'));
  await b.logs({ 'host.name': 'gone' }, [{ atMs: nowMs, body: { stringValue: 'canary-of-b' } }]);
});
test.after.always(() => harness?.close());

/** Queries the hour that ended when the points were created, however long the tests take. */
const at = (path: string): string => `${path}${path.includes('?') ? '&' : '?'}from=${nowMs - 3_600_000}&to=${nowMs}`;

const get = async (path: string) => {
  const { status, body } = await harness.request('GET', at(path), { as: 'viewer' });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
};

const close = (found: unknown, expected: number): boolean =>
  Math.abs(Number(found) - expected) < 1e-6 * Math.max(1, Math.abs(expected));

for (const id of ['i-1', 'receiver', 'scraped', 'former'])
  test(`the figures of a host match those from its series: ${id}`, async (t) => {
    const host = await get(`/api/infrastructure/hosts/${id}`);
    t.is(host.state, 'active', host.reason);
    t.true(close(host.cpu.utilization.value, 0.25), JSON.stringify(host.cpu));
    t.deepEqual([host.cpu.logicalCpus.value, host.cpu.cores.value], [2, host.cpu.utilization.value * 2]);
    t.deepEqual([host.memory.used.value, host.memory.total.value], [6 * GiB, 8 * GiB]);
    t.is(host.memory.utilization.value, 0.75);
    // /dev/sda1 is mounted twice and counts once; /run is not a disk.
    t.deepEqual([host.disk.used.value, host.disk.total.value], [40 * GiB, 200 * GiB]);
    t.true(close(host.disk.read.value, 2000) && close(host.disk.write.value, 4000), JSON.stringify(host.disk));
    t.true(
      close(host.network.receive.value, 500) && close(host.network.transmit.value, 300),
      JSON.stringify(host.network),
    );
    t.is(host.load.m1.value, 1.5);
    t.is(host.load.m5.value, null);
    t.regex(host.load.m5.reason, /scraper load/);
    t.true(close(host.uptimeSeconds.value, uptimeSeconds), JSON.stringify(host.uptimeSeconds));
  });

test('a host shows its properties, and what its sender does not report', async (t) => {
  const host = await get('/api/infrastructure/hosts/i-1');
  t.like(host, { id: 'i-1', name: { value: 'now' }, arch: { value: 'arm64' }, os: { type: { value: 'linux' } } });
  t.like(host.cloud, {
    provider: { value: 'aws' },
    region: { value: 'eu-west-1' },
    instanceType: { value: 'm7g.large' },
  });
  t.is(host.cloud.account.value, null);
  t.regex(host.cloud.account.reason, /resourcedetection/);
  const scraped = await get('/api/infrastructure/hosts/scraped');
  t.like(scraped, { arch: { value: 'x86_64' }, os: { type: { value: 'linux' } } });
});

test('a host is also found by its name if the name is unique', async (t) => {
  t.is((await get('/api/infrastructure/hosts/now')).id, 'i-1');
  t.is(
    (await harness.request('GET', at('/api/infrastructure/hosts/now/timeseries?metric=cpu'), { as: 'viewer' })).status,
    200,
  );
  const { status, body } = await harness.request('GET', at('/api/infrastructure/hosts/twin'), { as: 'viewer' });
  t.is(status, 400);
  t.is(body.message, 'id: 2 hosts are named twin: request one by its id, t-1, t-2');
});

test('a host has the same last-seen time as in the list', async (t) => {
  const { items } = await get('/api/infrastructure/hosts');
  for (const { id, lastSeen } of items)
    t.deepEqual((await get(`/api/infrastructure/hosts/${id}`)).lastSeen, lastSeen, id);
  const first = items.find(({ id }: { id: string }) => id === 't-1');
  t.is(first.lastSeen.value, new Date(nowMs - minuteMs).toISOString().replace('Z', '000000Z'));
});

test('a silent host is listed with when each signal stopped, and all its figures are unknown', async (t) => {
  const { items } = await get('/api/infrastructure/hosts?state=silent');
  t.deepEqual(
    items.map(({ id }: { id: string }) => id),
    ['gone'],
  );
  const [silentHost] = items;
  t.regex(silentHost.reason, /metrics 20 min ago, logs 21 min ago/);
  t.is(silentHost.lastSeen.value, new Date(nowMs - 20 * minuteMs).toISOString().replace('Z', '000000Z'));
  t.is(silentHost.wasStopped.value, null);
  t.is(silentHost.cpu.utilization.value, null);
});

test('a host that stopped sending only metrics is active, and its sender is named', async (t) => {
  const mute = await get('/api/infrastructure/hosts/mute');
  t.is(mute.state, 'active');
  t.regex(
    mute.reason,
    /logs were received within the last 5 min; last received of other signals: metrics 20 min ago; their sender stopped/,
  );
});

test('lists contain every host once, but no containers and no hosts of other projects and organizations', async (t) => {
  const ids = async (query: string) =>
    (await get(`/api/infrastructure/hosts?${query}`)).items.map(({ id }: { id: string }) => id);
  const own = ['former', 'gone', 'i-1', 'kubelet', 'logger', 'mute', 'receiver', 'scraped', 'second', 'store'];
  t.deepEqual((await ids('projectId=shop')).toSorted(), own);
  t.deepEqual((await ids('')).toSorted(), [...own, 'elsewhere', 't-1', 't-2'].toSorted());
  t.deepEqual(await ids('projectId=other'), ['elsewhere', 't-1', 't-2']);
  t.deepEqual(await ids('search=SCRAP'), ['scraped']);
  t.is((await ids('sort=-cpu')).length, 13);
  t.false(JSON.stringify(await get('/api/infrastructure/hosts')).includes('canary-of-b'));
});

test('pages of hosts neither skip nor repeat a host, in any order', async (t) => {
  for (const sort of ['name', '-name', '-cpu', 'lastSeen']) {
    const found: string[] = [];
    let cursor = '';
    do {
      const page = await get(`/api/infrastructure/hosts?sort=${sort}&limit=3${cursor}`);
      found.push(...page.items.map(({ id }: { id: string }) => id));
      cursor = page.nextCursor === null ? '' : `&cursor=${page.nextCursor}`;
    } while (cursor !== '');
    t.is(new Set(found).size, 13, sort);
    t.is(found.length, 13, sort);
  }
});

test('a host of another organization is not found, and that organization has its own', async (t) => {
  t.is((await harness.request('GET', '/api/infrastructure/hosts/canary-of-b')).status, 404);
  const session = await harness.signIn('viewer@b.example');
  const own = await harness.request('GET', at('/api/infrastructure/hosts'), { as: `token ${session}` });
  t.deepEqual(
    own.body.items.map(({ name }: { name: { value: string } }) => name.value),
    ['canary-of-b', 'gone'],
  );
});

test('the figures of a host over time match those of the list', async (t) => {
  for (const id of ['i-1', 'receiver', 'scraped', 'former']) {
    const { series, stepMs } = await get(`/api/infrastructure/hosts/${id}/timeseries?step=2m`);
    t.is(stepMs, 120_000);
    const values = (name: string): number[] =>
      series
        .find((each: { name: string }) => each.name === name)
        ?.points.flatMap(([, value]: [number, number | null]) => value ?? []) ?? [];
    for (const [name, expected] of [
      ['cpu.utilization', 0.25],
      ['memory.utilization', 0.75],
      ['disk.used', 40 * GiB],
      ['disk.read', 2000],
      ['network.transmit', 300],
      ['load.1m', 1.5],
    ] as const) {
      t.true(values(name).length >= 4, `${id} ${name}`);
      for (const value of values(name)) t.true(close(value, expected), `${id} ${name} ${value}`);
    }
  }
  const { series } = await get('/api/infrastructure/hosts/i-1/timeseries?metric=load');
  t.deepEqual(
    series.map(({ name }: { name: string }) => name),
    ['load.1m'],
  );
  t.is((await harness.request('GET', '/api/infrastructure/hosts/i-1/timeseries?step=1ms')).status, 400);
});

test('processes are listed by their usage, with current and former metric names', async (t) => {
  const { items } = await get('/api/infrastructure/processes');
  t.deepEqual(
    items.map(({ name }: { name: { value: string } }) => name.value),
    ['postgres', 'api', 'nginx'],
  );
  const [postgres, api, nginx] = items;
  t.true(close(postgres.cpuCores.value, 1.5) && close(nginx.cpuCores.value, 0.25) && close(api.cpuCores.value, 0.5));
  t.is(api.host.value, 'scraped');
  t.like(postgres, {
    pid: { value: '10' },
    host: { value: 'receiver' },
    owner: { value: 'root' },
    memory: { value: 2 * GiB },
    threads: { value: 7 },
  });
  t.like(nginx, { memory: { value: 3 * GiB }, threads: { value: 7 }, openFiles: { value: null } });
  const byMemory = await get('/api/infrastructure/processes?sort=-memory&host=receiver&limit=1');
  t.deepEqual(
    byMemory.items.map(({ name }: { name: { value: string } }) => name.value),
    ['nginx'],
  );
  t.truthy(byMemory.nextCursor);
});

interface ListedDisk {
  readonly id: string;
  readonly daysUntilFull: {
    readonly value: number | null;
    readonly low: number;
    readonly high: number;
    readonly reason: string;
  };
}

test('a disk is listed once, with the day on which it will be full if its history allows a forecast', async (t) => {
  const { items } = await get(`/api/infrastructure/disks`);
  const disk = (id: string) => items.find((each: ListedDisk) => each.id === id);
  // 70 of 100 GiB, 5 more a day: full in 6 days.
  const root = disk('store:/dev/vda1') ?? disk('store:/dev/root');
  t.is([disk('store:/dev/vda1'), disk('store:/dev/root')].filter((each) => each !== undefined).length, 1);
  t.is(root.aliases.length, 1);
  t.true(Math.abs(root.daysUntilFull.value - 6) < 0.2, JSON.stringify(root.daysUntilFull));
  t.true(root.daysUntilFull.low <= root.daysUntilFull.value && root.daysUntilFull.value <= root.daysUntilFull.high);
  t.regex(disk('store:/dev/vdb1').daysUntilFull.reason, /not filling/);
  t.like(disk('filer:/export'), { hosts: 2, mountpoints: ['/mnt'], utilization: { value: 0.4 } });
  t.deepEqual(disk('scraped:/dev/sda1').mountpoints, ['/']);
  t.like(disk('kubelet:nodefs'), { used: { value: 25 * GiB }, total: { value: 100 * GiB } });
  const volume = disk('volume:db/data-db-0');
  t.like(volume, { kind: 'volume', claim: { value: 'data-db-0' }, pod: { value: 'db-0' }, used: { value: 6 * GiB } });
  t.true(Math.abs(volume.daysUntilFull.value - 4) < 0.2, JSON.stringify(volume.daysUntilFull));
  t.regex(disk('receiver:/dev/sda1').daysUntilFull.reason, /too few/);
  t.deepEqual(disk('receiver:/dev/sda1').mountpoints, ['/', '/var/lib/docker']);
  t.true(close(disk('receiver:/dev/sda1').read.value, 1000));
  t.false(items.some(({ id }: ListedDisk) => id.includes('tmpfs') || id.includes('canary')));
  t.deepEqual((await get('/api/infrastructure/disks?kind=volume')).items.length, 1);
});

test('instances and containers are counted by provider, region and type', async (t) => {
  const { items, groups } = await get('/api/infrastructure/compute');
  const compute = (id: string) => items.find((each: { id: string }) => each.id === id);
  t.like(compute('instance:i-1'), {
    provider: { value: 'aws' },
    region: { value: 'eu-west-1' },
    type: { value: 'm7g.large' },
  });
  t.like(compute('container:c1'), { name: { value: 'redis' }, type: { value: 'redis:7' }, memory: { value: GiB } });
  t.true(close(compute('container:c1').cpuCores.value, 0.5));
  // The pause container and the cgroup of the whole pod are not containers.
  t.true(close(compute('container:shop/cart-1/cart').cpuCores.value, 2));
  t.is(items.filter(({ kind }: { kind: string }) => kind === 'container').length, 2);
  t.true(
    groups.some(
      (group: object) =>
        JSON.stringify(group) ===
        JSON.stringify({
          kind: 'instance',
          provider: 'aws',
          region: 'eu-west-1',
          type: 'm7g.large',
          count: 1,
          active: 1,
        }),
    ),
    JSON.stringify(groups),
  );
  const own = await get('/api/infrastructure/compute?provider=aws&kind=container');
  t.deepEqual(
    own.items.map(({ id }: { id: string }) => id),
    ['container:c1'],
  );
});

test('a plan without metrics cannot read any operation of this group', async (t) => {
  const plan = { name: 'small', entitlements: ['logs'], retentionDays: { logs: 1, metrics: 1, traces: 1 } };
  const reader = { columns: harness.columns.forTenant('a'), plan, nowMs } as Parameters<typeof parsePage>[2];
  t.throws(() => parsePage('hosts', { limit: 1, sort: 'name' }, reader), { message: /does not include metrics/ });
});
