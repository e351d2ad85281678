/** Agents and coverage from telemetry of services: with an SDK, an eBPF agent, both, and none. */
import test from 'ava';
import { eventually } from '../waiting.ts';
import { type Answer, type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
  const { columns } = harness;
  const resource = (id: number, service: string, attributes: Readonly<Record<string, string>>): string => {
    const pairs = Object.entries({ 'service.name': service, ...attributes }).flat();
    return `('a', ${id}, '${service}', map(${pairs.map((text) => `'${text}'`).join(', ')}), '${'s'.repeat(pairs.length / 2)}', now64(3), now64(3))`;
  };
  const sdk = { 'telemetry.sdk.name': 'opentelemetry', 'telemetry.sdk.language': 'nodejs' };
  const obi = {
    'telemetry.distro.name': 'opentelemetry-ebpf-instrumentation',
    'telemetry.distro.version': '0.3.0',
    'host.name': 'node-1',
  };
  await columns.execute(
    `INSERT INTO resources (tenant_id, resource_id, service, attributes, attribute_types, first_seen, last_seen) VALUES
      ${[
        resource(101, 'web', sdk),
        resource(102, 'web', obi),
        resource(103, 'cart', obi),
        resource(104, 'cron', { 'os.version': '5.4.0' }),
      ].join(', ')}`,
  );
  const span = (id: number, service: string, offset: number, name = 'GET /'): string =>
    `('a', 'default', now64(3), 0, ${1000 + offset}, 0, toStartOfMinute(now64(9)) - 120 + ${offset}, 5000000, '${service}', ${id}, unhex('${String(offset).padStart(32, '1')}'), unhex('${String(offset).padStart(16, '1')}'), '${name}', 2)`;
  await columns.execute(
    `INSERT INTO spans (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, duration, service, resource_id, trace_id, span_id, name, kind) VALUES
      ${[
        span(101, 'web', 1),
        span(102, 'web', 1.5),
        span(102, 'web', 3),
        span(103, 'cart', 4),
        span(104, 'cron', 5),
      ].join(', ')}`,
  );
});
test.after.always(() => harness.close());

const get = async (path: string): Promise<Answer['body']> => {
  const { status, body } = await harness.request('GET', path, { as: 'viewer' });
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};

test.serial('an eBPF agent is one entry for its host, with the services that it instruments', async (t) => {
  const { items } = await get('/api/instrumentation/agents?scope=account');
  t.is(items.length, 1);
  t.like(items[0], { distribution: 'obi', host: 'node-1', version: '0.3.0', state: 'healthy', spans: 3 });
  t.deepEqual(items[0].services, ['cart', 'web']);
  t.deepEqual(await get(`/api/instrumentation/agents/${items[0].id}?scope=account`), {
    ...items[0],
    attributes: {},
    components: [],
    configuration: null,
  });
  t.is(
    (await harness.request('GET', '/api/instrumentation/agents/unknown?scope=account', { as: 'viewer' })).status,
    404,
  );
});

test.serial('coverage lists services without instrumentation first, and the duplicated share of several', async (t) => {
  const { items } = await get('/api/instrumentation/coverage?scope=account&kind=service');
  t.deepEqual(
    items.map(({ name, state, duplicatedShare }: Answer['body']) => [name, state, duplicatedShare]),
    [
      ['cron', 'none', null],
      ['web', 'several', 0.5],
      ['cart', 'ebpf', null],
    ],
  );
  t.is(items[0].prediction.canRun, false);
  t.deepEqual(
    (await get('/api/instrumentation/coverage?scope=account&kind=host')).items.map(({ name }: Answer['body']) => name),
    ['node-1'],
  );
});

test.serial(
  'a manifest has the endpoint of this installation, and an unavailable format is refused with the others',
  async (t) => {
    const { files, privileges } = await get('/api/instrumentation/manifest?agent=obi');
    t.true(files.some(({ text }: Answer['body']) => text.includes('/otlp')));
    t.true(privileges.length > 0);
    const { status, body } = await harness.request(
      'GET',
      '/api/instrumentation/manifest?agent=agentsight&format=helm',
      {
        as: 'viewer',
      },
    );
    t.is(status, 400);
    t.regex(body.message, /choose systemd/);
  },
);

test.serial(
  'an agent known from telemetry and over OpAMP is one entry, and another organization has none of it',
  async (t) => {
    const { columns } = harness;
    const atMs = Date.now();
    const insert = (tenantId: string, agentId: string, parts: readonly (readonly [part: string, content: object])[]) =>
      columns.execute(
        `INSERT INTO fleet_agents (tenant_id, project_id, agent_id, part, instance_uid, version, last_seen, summary, content) VALUES ${parts
          .map(([part, content]) => {
            const json = JSON.stringify({ kind: part, ...content }).replaceAll("'", "\\'");
            return `('${tenantId}', 'default', '${agentId}', '${part}', 'uid-${agentId}', ${atMs}, now64(3), '${json}', '${json}')`;
          })
          .join(', ')}`,
      );
    const heartbeat = {
      lastSeenMs: atMs,
      intervalMs: 30_000,
      connection: 'open',
      isSilent: false,
      nextReportByMs: atMs + 90_000,
    };
    const health = {
      isHealthy: false,
      status: '',
      error: 'no memory',
      startedMs: atMs,
      failingComponent: null,
      failingComponents: 0,
    };
    await insert('a', 'obi-of-node-1', [
      ['heartbeat', heartbeat],
      ['description', { attributes: { 'service.name': 'opentelemetry-ebpf-instrumentation', 'host.name': 'node-1' } }],
      ['health', health],
    ]);
    await insert('a', 'collector', [
      ['heartbeat', heartbeat],
      ['description', { attributes: { 'service.name': 'otelcol-contrib', 'host.name': 'node-1' } }],
    ]);
    await insert('b', 'foreign', [['heartbeat', heartbeat]]);
    let items: Answer['body'] = [];
    await eventually('the agents are listed', async () => {
      ({ items } = await get('/api/instrumentation/agents?scope=account&sort=title'));
      return items.length === 2;
    });
    t.like(items[0], {
      title: 'OpenTelemetry Collector Contrib',
      kind: 'collector',
      sources: ['opamp'],
      state: 'healthy',
    });
    t.like(items[1], {
      distribution: 'obi',
      sources: ['telemetry', 'opamp'],
      spans: 3,
      state: 'degraded',
      reason: 'The agent reports that it is not healthy: no memory',
      instanceUid: 'uid-obi-of-node-1',
    });
    const [foreign, unknown] = await Promise.all(
      ['foreign', 'unknown'].map((id) =>
        harness.request('GET', `/api/instrumentation/agents/${id}?scope=account`, { as: 'viewer' }),
      ),
    );
    t.is(foreign?.status, 404);
    t.is(foreign?.body.message, unknown?.body.message);
  },
);

test.serial(
  'an agent that sends only metrics is healthy while points arrive, although its series have hourly times',
  async (t) => {
    const { columns } = harness;
    const attributes = "map('telemetry.distro.name', 'beyla', 'host.name', 'node-9')";
    await columns.execute(
      `INSERT INTO resources (tenant_id, resource_id, service, attributes, attribute_types, first_seen, last_seen) VALUES ('a', 109, '', ${attributes}, 'ss', now64(3), now64(3))`,
    );
    await columns.execute(
      `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, temporality, monotonic, unit, source, service, resource_id, attributes, attribute_types, first_seen, last_seen) VALUES
      ('a', 'default', 'flow.bytes', 91, 'sum', 2, true, 'By', 'otlp', '', 109, map(), '', now64(3) - 1800, now64(3) - 1800),
      ('a', 'default', 'lookup.duration', 92, 'histogram', 2, false, 's', 'otlp', '', 109, map(), '', now64(3) - 1800, now64(3) - 1800)`,
    );
    const getAgent = async (): Promise<Answer['body']> =>
      (await get('/api/instrumentation/agents?scope=account')).items.find(
        ({ host }: { readonly host: string }) => host === 'node-9',
      );
    await eventually('the agent is listed', async () => (await getAgent()) !== undefined);
    t.like(await getAgent(), { state: 'silent' });
    const insertPoint = (table: string, columnNames: string, values: string) =>
      columns.execute(
        `INSERT INTO ${table} (tenant_id, project_id, received_at, partition, offset, ${columnNames}) VALUES ('a', 'default', now64(3), 0, 1, ${values})`,
      );
    await insertPoint('histograms', 'metric, series_id, timestamp, count', "'lookup.duration', 92, now64(9) - 90, 1");
    await eventually('the agent is healthy', async () => (await getAgent()).state === 'healthy');
    const ofHistogram = Date.parse((await getAgent()).lastSeenAt);
    await insertPoint('samples', 'metric, series_id, timestamp, value', "'flow.bytes', 91, now64(9) - 30, 1");
    await eventually('the later point counts', async () => Date.parse((await getAgent()).lastSeenAt) > ofHistogram);
  },
);
