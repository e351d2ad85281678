/** Hosts, Kubernetes, databases and networks in a real browser: figures of the API, and links to other areas. */
import test from 'ava';
import { getDurationBucket } from '../../schemas/tables/durations.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { agentOf, flat, growing, type Labels, type Metric } from './infrastructure-senders.ts';
import { assertView, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const GiB = 1024 ** 3;
const nowMs = Math.floor(Date.now() / 1000) * 1000;
const minute = Math.floor(nowMs / 60_000 - 10) * 60_000;
const times = Array.from({ length: 16 }, (_, at) => nowMs - (15 - at) * 30_000);

const gauge = (name: string, value: number, labels: Labels = {}, unit = ''): Metric => ({
  name,
  unit,
  kind: 'gauge',
  points: [{ labels, values: flat(times, value) }],
});

const sendHost = (name: string, used: number): Promise<void> =>
  agentOf(harness.columns, 'a').metrics({ 'host.name': name, 'host.id': `id-${name}`, 'os.type': 'linux' }, [
    {
      name: 'system.cpu.time',
      unit: 's',
      kind: 'counter',
      points: Object.entries({ user: 0.25, idle: 0.75 }).map(([mode, share]) => ({
        labels: { 'cpu.mode': mode, 'cpu.logical_number': '0' },
        values: growing(times, share),
      })),
    },
    {
      name: 'system.memory.usage',
      unit: 'By',
      kind: 'amount',
      points: Object.entries({ used, free: 8 * GiB - used }).map(([state, value]) => ({
        labels: { 'system.memory.state': state },
        values: flat(times, value),
      })),
    },
    {
      name: 'system.filesystem.usage',
      unit: 'By',
      kind: 'amount',
      points: Object.entries({ used: 30 * GiB, free: 70 * GiB }).map(([state, value]) => ({
        labels: {
          'system.filesystem.state': state,
          'system.device': '/dev/sda1',
          'system.filesystem.mountpoint': '/',
          'system.filesystem.type': 'ext4',
        },
        values: flat(times, value),
      })),
    },
  ]);

const pod = {
  'k8s.cluster.name': 'main',
  'k8s.namespace.name': 'shop',
  'k8s.pod.name': 'cart-7d4b9c6f5d-x2x4z',
  'k8s.pod.uid': 'uid-1',
  'k8s.node.name': 'n1',
  'k8s.deployment.name': 'cart',
};

const query = (sql: string): Promise<void> => harness.columns.execute(sql);

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  await sendHost('web-1', 6 * GiB);
  await sendHost('web-2', 2 * GiB);
  const agent = agentOf(harness.columns, 'a');
  await agent.metrics(pod, [gauge('k8s.pod.phase', 2), gauge('k8s.pod.memory.working_set', GiB, {}, 'By')]);
  await agent.metrics({ 'k8s.cluster.name': 'main', 'k8s.node.name': 'n1' }, [
    gauge('k8s.node.condition_ready', 1),
    gauge('k8s.node.memory.working_set', GiB, {}, 'By'),
  ]);
  const buckets = `map(${getDurationBucket(2e6)}, 3)`;
  await query(
    `INSERT INTO service_edges (received_at, minute, tenant_id, project_id, server_project_id, connection, client, client_kind, server, server_kind, system, address, requests, errors, timed, duration_sum, duration_max, duration_buckets) VALUES
      (now64(3), toDateTime(${minute / 1000}), 'a', 'shop', 'shop', 'query', 'cart', 'service', 'orders', 'database', 'postgresql', 'db1:5432', 3, 1, 3, 6000000, 2000000, ${buckets})`,
  );
  await query(
    `INSERT INTO spans (received_at, timestamp, duration, tenant_id, project_id, service, name, kind, status_code, attributes, attribute_types, trace_id, span_id) VALUES
      (now64(3), fromUnixTimestamp64Milli(${minute}), 2000000, 'a', 'shop', 'cart', 'query', 3, 0, map('db.system.name', 'postgresql', 'db.namespace', 'orders', 'db.query.text', 'SELECT * FROM users WHERE id = 1'), 'sss', unhex('${'1'.repeat(32)}'), unhex('${'1'.repeat(16)}'))`,
  );
  await query(
    `INSERT INTO series (tenant_id, metric, series_id, kind, temporality, monotonic, unit, source, attributes, attribute_types, first_seen, last_seen)
    SELECT 'a', 'obi.network.flow.bytes', 900, 'sum', 2, true, 'By', 'otlp', map('k8s.src.namespace', 'shop', 'k8s.src.owner.name', 'web', 'k8s.dst.namespace', 'shop', 'k8s.dst.owner.name', 'cart', 'iface.direction', 'egress'), 'sssss', fromUnixTimestamp64Milli(${minute}), fromUnixTimestamp64Milli(${minute + 60_000})`,
  );
  await query(
    `INSERT INTO samples (received_at, tenant_id, metric, series_id, timestamp, start_timestamp, value)
    SELECT now64(3), 'a', 'obi.network.flow.bytes', 900, fromUnixTimestamp64Milli(${minute} + 30000 * number), fromUnixTimestamp64Milli(${minute - 60_000}), 100 + 2048 * number FROM numbers(2)`,
  );
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

const inBytes = (bytes: number): string =>
  bytes < 1024 ? `${bytes} B` : `${Number((bytes / 1024).toPrecision(3))} KiB`;
const rowsOf = async (path: string): Promise<number> => (await harness.request('GET', path)).body.items.length;

declare('hosts show the metrics of the API, and one host shows its charts and links to its logs', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/infrastructure?from=now-30m&sort=-memory');
  const { items } = (await harness.request('GET', '/api/infrastructure/hosts?from=now-30m&sort=-memory')).body;
  await page.getByRole('row').nth(items.length).waitFor();
  const cells = await page.getByRole('row').nth(1).getByRole('cell').allTextContents();
  t.deepEqual(cells.slice(0, 4), [
    'web-1',
    'active',
    '25.0 %',
    `${(100 * items[0].memory.utilization.value).toFixed(1)} %`,
  ]);
  await page.getByRole('button', { name: 'web-1' }).click();
  const sidePanel = page.getByRole('complementary', { name: 'Host' });
  await sidePanel.getByRole('img').first().waitFor();
  await sidePanel.getByRole('link', { name: 'Logs' }).waitFor();
  await assertView(t, tab, '.beside h2');
  // Also a host that the list does not contain.
  await tab.go(`${harness.url}/infrastructure?from=now-30m&search=nothing-is-called-so&open=${items[1].id}`);
  await sidePanel.getByRole('heading', { name: 'web-2' }).waitFor();
  await sidePanel.getByText(items[1].reason).waitFor();
});

for (const [address, api] of [
  ['/infrastructure/disks', '/api/infrastructure/disks'],
  ['/infrastructure/processes', '/api/infrastructure/processes'],
  ['/infrastructure/compute', '/api/infrastructure/compute'],
  ['/kubernetes', '/api/kubernetes/clusters'],
  ['/kubernetes/nodes', '/api/kubernetes/nodes'],
  ['/kubernetes/namespaces', '/api/kubernetes/namespaces'],
  ['/kubernetes/workloads', '/api/kubernetes/workloads'],
  ['/kubernetes/containers', '/api/kubernetes/containers'],
  ['/kubernetes/events', '/api/kubernetes/events'],
  ['/databases', '/api/databases'],
  ['/databases/engines', '/api/databases/engines'],
  ['/network', '/api/network/flows'],
] as const)
  declare(`${address} has as many rows as the API`, async (t) => {
    const tab = await chromium.open();
    await signInAndOpen(tab, harness.url, `${address}?from=now-30m`);
    const count = await rowsOf(`${api}?from=now-30m`);
    const shown = count === 0 ? '.list [role=status]' : '.list tbody';
    await tab.page.locator(shown).waitFor();
    t.is(await tab.page.locator('.list tbody tr').count(), count);
    await assertView(t, tab, shown);
  });

declare('a pod, a statement and a flow show the values of the API', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/kubernetes/pods?from=now-30m');
  await page.getByRole('button', { name: 'cart-7d4b9c6f5d-x2x4z' }).click();
  await page.getByRole('complementary', { name: 'Pod' }).getByText('shop').first().waitFor();
  await assertView(t, tab, '.beside h2');
  await page.goto(`${harness.url}/databases/statements?from=now-30m`);
  await page.getByRole('button', { name: 'select * from users where id=?' }).click();
  const statement = page.getByRole('complementary', { name: 'Statement' });
  await statement.getByRole('link', { name: 'Slowest call' }).waitFor();
  await statement.getByRole('link', { name: 'cart' }).waitFor();
  await assertView(t, tab, '.beside h2');
  await page.goto(`${harness.url}/network?from=now-30m`);
  const { items } = (await harness.request('GET', '/api/network/flows?from=now-30m')).body;
  await page.getByRole('row').nth(1).waitFor();
  const cells = await page.getByRole('row').nth(1).getByRole('cell').allTextContents();
  t.deepEqual(cells.slice(0, 4), [items[0].source.name, items[0].destination.name, ' ', inBytes(items[0].bytes)]);
  await page.getByRole('link', { name: 'Map' }).click();
  const { nodes, edges } = (await harness.request('GET', '/api/network/topology?from=now-30m&scope=account')).body;
  const drawn = page.locator('.graph .node');
  await drawn.nth(nodes.length - 1).waitFor();
  t.deepEqual(
    (await drawn.allTextContents()).map((text) => text.trim()),
    nodes.map(
      ({ name, bytesOut, bytesIn }: { name: string; bytesOut: number; bytesIn: number }) =>
        `${name} out ${inBytes(bytesOut)}, in ${inBytes(bytesIn)}`,
    ),
  );
  t.is(
    await page.locator('.graph').getAttribute('aria-label'),
    `Map of 2 nodes and 1 edge between them; the largest flow is from shop/web to shop/cart: ${inBytes(edges[0].bytes)}.`,
  );
  await page.getByText('Data table', { exact: true }).click();
  const numbers = page.getByRole('region', { name: 'Map data' }).getByRole('row');
  t.deepEqual((await numbers.nth(1).getByRole('cell').allTextContents()).slice(0, 3), [
    ...[items[0].source.name, items[0].destination.name, inBytes(edges[0].bytes)],
  ]);
  await drawn.first().focus();
  await page.keyboard.press('Enter');
  t.is(await drawn.first().getAttribute('aria-pressed'), 'true');
  await assertView(t, tab, '.graph .node >> nth=0');
  await page.getByRole('combobox', { name: /^Group by/ }).selectOption('zones');
  await page.waitForURL('**/network/map?*by=zone*');
  await page.goto(`${harness.url}/network/dns`);
  await page.getByText('No DNS lookups in this range').waitFor();
  await assertView(t, tab, 'main [role=status] >> nth=0');
});

declare('a database engine shows its metrics, and a chart of one metric', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/databases/engines?from=now-30m');
  await page.getByRole('button', { name: 'postgresql', exact: true }).click();
  const sidePanel = page.getByRole('complementary', { name: 'Engine' });
  const { figures, databases } = (await harness.request('GET', '/api/databases/postgresql?from=now-30m')).body;
  const rows = sidePanel.locator('table.texts tbody tr');
  await rows.nth(figures.length - 1).waitFor();
  t.is(await rows.count(), figures.length);
  await rows.first().getByText(figures[0].summary).waitFor();
  await sidePanel.getByLabel('Metric').selectOption('p95');
  const { series, unit } = (
    await harness.request('GET', '/api/databases/postgresql/timeseries?from=now-30m&figure=p95')
  ).body;
  t.deepEqual([series.length, unit], [1, 'ns']);
  await sidePanel
    .getByRole('img', { name: /postgresql: p95 latency: 1 series, from [\d.]+ ms to [\d.]+ ms/ })
    .waitFor();
  await sidePanel.getByLabel('Metric').selectOption(figures[0].name);
  await sidePanel.getByRole('status').filter({ hasText: /./ }).first().waitFor();
  await assertView(t, tab, '.beside h2');
  await sidePanel.getByRole('link', { name: databases[0].name }).click();
  await page.getByRole('complementary', { name: 'Database' }).getByRole('link', { name: 'cart' }).waitFor();
});
