/** The page of a cluster: roles in separate processes over Kafka, ClickHouse, MongoDB and Redis show what was sent. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { text } from '../cases/sink-tables.ts';
import { selectRunPart } from '../parts.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { eventually } from '../waiting.ts';
import { type Chromium, startChromium, type Tab } from './chromium.ts';
import { type Cluster, clusterMissing, startCluster, startRole } from './cluster.ts';
import { type OiqProcess, owner, read, signIn } from './oiq-process.ts';
import { assertView } from './page-walk.ts';

const missing = clusterMissing ?? chromiumMissing;
const declare = missing === undefined ? test.serial : test.serial.skip;

let directory: string;
let cluster: Cluster;
let chromium: Chromium;
let roles: readonly OiqProcess[] = [];
let http = '';
let token = '';

const minuteMs = 60_000;
const endMs = Math.floor(Date.now() / minuteMs) * minuteMs;
/** Absolute times, so that the page and the test query the same range. */
const range = { from: new Date(endMs - 30 * minuteMs).toISOString(), to: new Date(endMs).toISOString() };
const at = (path: string, values: Readonly<Record<string, string>> = {}): string =>
  `${path}?${new URLSearchParams({ ...range, ...values })}`;
/** Nanoseconds of a time some minutes before the end, in the format of OTLP. */
const nanoseconds = (minutes: number, moreMs = 0): string =>
  `${BigInt(endMs - minutes * minuteMs + moreMs) * 1_000_000n}`;

// biome-ignore lint/suspicious/noExplicitAny: a response of the API
const get = (path: string): Promise<any> => read(http, path, token);

const send = async (signal: string, body: object): Promise<void> => {
  const response = await fetch(`${roles[0]?.otlp}/v1/${signal}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-license-key': cluster.licenseKey },
    body: JSON.stringify(body),
  });
  if (response.status !== 200) throw new Error(`${signal} returned ${response.status}: ${await response.text()}`);
};

const post = async (path: string, body: object): Promise<void> => {
  const response = await fetch(`${http}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
};

const resource = { attributes: [text('service.name', 'cart')] };
const trace = 'ab'.repeat(16);
const failures = 7;

const sendAll = async (): Promise<void> => {
  const logRecords = Array.from({ length: 40 }, (_, index) => ({
    timeUnixNano: nanoseconds(5, index),
    severityNumber: index < failures ? 17 : 9,
    body: { stringValue: index < failures ? `the bank refused <b>${index}</b>` : `order ${index} accepted` },
    ...(index === 0 ? { traceId: trace, spanId: '00000000000000b2' } : {}),
  }));
  await send('logs', { resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] });
  const span = { traceId: trace, startTimeUnixNano: nanoseconds(5), endTimeUnixNano: nanoseconds(5, 2_000) };
  const spans = [
    { ...span, spanId: '00000000000000a1', name: 'POST /checkout', kind: 2 },
    { ...span, spanId: '00000000000000b2', parentSpanId: '00000000000000a1', name: 'charge', status: { code: 2 } },
  ];
  await send('traces', { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] });
  const dataPoints = Array.from({ length: 10 }, (_, index) => ({
    timeUnixNano: nanoseconds(12 - index),
    asInt: index,
  }));
  const metrics = [{ name: 'queue.size', unit: 'By', gauge: { dataPoints } }];
  await send('metrics', { resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }] });
};

test.before(async () => {
  if (missing !== undefined) return;
  directory = await mkdtemp(join(tmpdir(), 'oiq-page-cluster-'));
  [cluster, chromium] = await Promise.all([startCluster(directory, { shards: 2 }), startChromium()]);
  const started: OiqProcess[] = [];
  roles = started;
  for (const role of ['receivers', 'sinks', 'processors', 'api']) started.push(await startRole(cluster, role));
  http = roles.at(-1)?.http ?? '';
  token = await signIn(http);
  await sendAll();
  const query = { kind: 'aggregate', signal: 'logs', search: 'severity:error', groupBy: ['service'] };
  await post('/api/alerts/rules', {
    name: 'The bank refuses',
    interval: '10s',
    condition: {
      kind: 'threshold',
      query: { ...query, measures: [{ function: 'count' }] },
      window: '1h',
      thresholds: [{ severity: 'critical', operator: 'above', value: 5 }],
    },
  });
  await eventually('an alert', async () => (await get('/api/alerts?state=firing')).items.length === 1);
});
test.after.always(async () => {
  await chromium?.close();
  await Promise.all(roles.map((role) => role.kill()));
  await cluster?.close();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/** Other tests check each of the five views over embedded stores, so a run of this one checks one of them. */
let shownBefore = 0;
const holds = async (t: ExecutionContext, tab: Tab, shown: string): Promise<void> => {
  const { part, of } = selectRunPart(5);
  if (shownBefore++ % of === part) await assertView(t, tab, shown);
};

declare('a user signs in, finds logs, a trace, a metric and an alert, creates a dashboard and signs out', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await tab.go(`${http}/login?returnTo=${encodeURIComponent(at('/logs', { search: 'severity:error' }))}`);
  await tab.fillIn(owner);
  await page.locator('#count', { hasText: String(failures) }).waitFor();
  t.is((await get(at('/api/logs/histogram', { search: 'severity:error' }))).records, failures);
  const { items: records } = await get(at('/api/logs', { search: 'severity:error' }));
  await page.locator(`.records[aria-rowcount="${failures + 1}"]`).waitFor();
  const shown = await page.locator('.records .extent .row').allTextContents();
  t.true(
    shown.every((row, index) => row.includes(records[index].body)),
    shown.join('\n'),
  );
  await holds(t, tab, '.records .extent .row >> nth=0');

  await tab.go(http + at('/traces', { search: 'duration:>1s' }));
  await page.locator('.traces .extent .row').first().click();
  await page.waitForURL(`**/traces/${trace}?*`);
  t.is(await page.locator('#spans').textContent(), String((await get(`/api/traces/${trace}`)).spans.length));
  await page.locator('.waterfall .extent .row', { hasText: 'the bank refused <b>0</b>' }).waitFor();
  await holds(t, tab, '.waterfall .extent');

  await tab.go(http + at('/explore-metrics', { metric: 'queue.size' }));
  await page.locator('.legend-entry').first().waitFor();
  t.regex((await page.locator('.plot').getAttribute('aria-label')) ?? '', /: 1 series, from 0 B to 9 B\.$/);
  await holds(t, tab, '.metrics .extent .row >> nth=0');

  await page.getByRole('link', { name: 'Add to dashboard' }).click();
  await page.getByLabel('Title').fill('Queue');
  await page.getByLabel('Dashboard name').fill('Shop');
  await page.getByRole('button', { name: 'Add panel' }).click();
  await page.getByRole('heading', { name: 'Queue' }).waitFor();
  const [dashboard] = (await get('/api/dashboards')).items;
  t.deepEqual([dashboard.name, dashboard.panels], ['Shop', 1]);
  t.is(new URL(page.url()).pathname, `/dashboards/${dashboard.id}`);
  await holds(t, tab, '.panel h2 >> nth=0');

  await tab.go(`${http}/alerts`);
  // On a busy machine the platform may raise its own alerts.
  const row = page.locator('.alerts .extent .row', { hasText: 'The bank refuses' }).first();
  await row.waitFor();
  const alert = (await get('/api/alerts')).items.find(
    ({ ruleName }: { readonly ruleName: string }) => ruleName === 'The bank refuses',
  );
  t.is(alert.value, failures);
  t.deepEqual((await row.getByRole('gridcell').allTextContents()).slice(0, 5), [
    ...['firing', 'critical', 'The bank refuses', 'service=cart', String(alert.value)],
  ]);
  await row.click();
  const sidePanel = page.getByRole('complementary', { name: 'Alert' });
  await sidePanel.getByLabel('Note').fill('I call the bank');
  await sidePanel.getByRole('button', { name: 'Acknowledge' }).click();
  await sidePanel.getByText(/I call the bank/).waitFor();
  t.is((await get(`/api/alerts?alertId=${alert.id}`)).items[0].acknowledged.note, 'I call the bank');
  await holds(t, tab, '.beside h2');

  t.deepEqual(tab.complaints, []);
  await page.locator('#account').click();
  await page.locator('#sign-out').click();
  await page.waitForURL('**/login*');
});
