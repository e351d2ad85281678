/** The overview over stored OTLP: each counter equals the result of its query. */
import test from 'ava';
import { type Harness, startHarness } from './api-harness.ts';
import { landServices, minute, minuteMs } from './services-otlp.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness({ projects: ['money'] });
  await landServices(harness.columns);
  const { columns } = harness;
  await columns.execute(
    "INSERT INTO logs (tenant_id, project_id, received_at, timestamp, service, body) SELECT 'b', 'shop', now64(3), now64(9), 'x', 'x'",
  );
  await columns.execute(
    "INSERT INTO dead_letters (tenant_id, id, project_id, received_at) SELECT if(number < 3, 'a', 'b'), toString(number), 'shop', now64(3) FROM numbers(5)",
  );
  await columns.execute(
    "INSERT INTO log_patterns (tenant_id, service, structure, pattern_id, places, shard, template, first_seen, last_seen) SELECT 'a', 'cart', 1, toString(number), [toInt32(number)], 0, 'x', now64(3) - number * 7200, now64(3) FROM numbers(3)",
  );
  await columns.execute(
    "INSERT INTO log_pattern_counts (tenant_id, project_id, minute, service, pattern_id, severity, count, topic, received_at, offset) SELECT 'a', 'shop', toStartOfMinute(now()), 'cart', toString(number), 'error', 5, 'log-pattern-counts', now64(3), number FROM numbers(3)",
  );
  await harness.columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, timestamp, service, severity_number, severity_text, body) SELECT 'a', 'shop', now64(3), toDateTime64(${minute / 1000 - 1800}, 9, 'UTC') + number, 'cart', number < 2 ? 0 : 9 + number, number < 2 ? 'crit' : '', 'x' FROM numbers(12)`,
  );
  const hour = `toStartOfHour(toDateTime(${minute / 1000}, 'UTC'))`;
  await harness.columns.execute(
    `INSERT INTO usage (tenant_id, hour, signal, project_id, outcome, service, offset, requests, records, bytes) VALUES ('a', ${hour}, 'logs', 'shop', 'accepted', '', 1, 1, 7, 700), ('b', ${hour}, 'logs', 'shop', 'accepted', '', 1, 1, 1000, 1000)`,
  );
  range = `from=${minute - 45 * minuteMs}&to=${Date.now() + minuteMs}`;
});
test.after.always(() => harness?.close());

/** Ends shortly after the last record. */
let range = '';
const get = async (path: string, as: 'viewer' | 'admin' = 'viewer') => {
  const { status, body } = await harness.request('GET', path, { as });
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};
type Item = Readonly<Record<string, unknown>>;
interface Service {
  readonly figures: { readonly requests?: number; readonly errors?: number };
  readonly sends: { readonly spans: number; readonly logs: number };
}

for (const scope of ['', '&projectId=money', '&scope=account'])
  test(`every counter matches its own query${scope}`, async (t) => {
    const scopedQuery = `${range}${scope}`;
    const { counters } = await get(`/api/overview?${scopedQuery}`);
    const count = async (path: string): Promise<unknown> => (await get(path)).rows[0]?.[0];
    const { items }: { items: Service[] } = await get(
      `/api/services?${scopedQuery}${scope === '' ? '&scope=account' : ''}`,
    );
    const sum = (of: (service: Service) => number): number => items.reduce((total, each) => total + of(each), 0);
    const metrics: Item[] = (await get(`/api/metrics?${scopedQuery}`)).items;
    const patterns: Item[] = (await get(`/api/logs/patterns?${scopedQuery}&only=new`)).items;
    const deployments: Item[] = (await get(`/api/deployments?${scopedQuery}${scope === '' ? '&scope=account' : ''}`))
      .items;
    const expected = {
      logs: await count(`/api/logs/aggregate?${scopedQuery}`),
      errorLogs: await count(`/api/logs/aggregate?${scopedQuery}&search=${encodeURIComponent('severity:>=error')}`),
      logPatternsNew: patterns.length,
      spans: sum(({ sends }) => sends.spans),
      requests: sum(({ figures }) => figures.requests ?? 0),
      errors: sum(({ figures }) => figures.errors ?? 0),
      servicesActive: items.filter(({ sends }) => sends.spans + sends.logs > 0).length,
      seriesActive: metrics.reduce((total, { seriesCount }) => total + Number(seriesCount), 0),
      deployments: deployments.length,
    };
    const input = Object.fromEntries(Object.keys(expected).map((name) => [name, counters[name].value]));
    t.deepEqual(input, expected);
    t.true(expected.spans > 0);
    t.is(counters.errorRate.value, counters.errors.value / counters.requests.value);
    const [accepted] = await harness.columns.query<Record<string, number>>(
      `SELECT toFloat64(sum(records)) AS records, toFloat64(sum(bytes)) AS bytes FROM usage FINAL
      WHERE tenant_id = 'a' AND outcome = 'accepted'${scope === '&projectId=money' ? " AND project_id = 'money'" : ''}`,
    );
    t.deepEqual(
      { records: counters.ingestedRecords.value, bytes: counters.ingestedBytes.value },
      { records: accepted?.['records'], bytes: accepted?.['bytes'] },
    );
    if (scope === '&projectId=money') return;
    const deadLetters: Item[] = (await get('/api/dead-letter?limit=1000', 'admin')).items;
    t.is(counters.deadLetters.value, deadLetters.length);
  });

test('each counter includes the previous range, and the change is computed from both', async (t) => {
  const at = (from: number, until: number) => get(`/api/overview?from=${from}&to=${until - 1}`);
  const now = await at(minute, minute + 10 * minuteMs);
  const before = await at(minute - 10 * minuteMs, minute);
  t.like(now.previous, { from: before.from, to: before.to });
  for (const [name, { previous }] of Object.entries<{ previous: unknown }>(now.counters))
    if (!name.startsWith('ingested')) t.deepEqual(previous, before.counters[name].value, name);
  t.deepEqual(now.counters.requests.change, { value: null, reason: 'the previous value is 0' });
  const half = await at(minute + 5 * minuteMs, minute + 10 * minuteMs);
  const { value, previous, change } = half.counters.requests;
  t.is(change, (value - previous) / previous);
});

test('signals that the plan lacks are unknown with the reason, and no data of another organization counts', async (t) => {
  const token = await harness.signIn('viewer@b.example');
  const { status, body } = await harness.request('GET', `/api/overview?${range}`, { as: `token ${token}` });
  t.is(status, 200, JSON.stringify(body));
  t.is(body.counters.logs.value, 1);
  for (const name of ['spans', 'requests', 'p95', 'deployments'])
    t.deepEqual(body.counters[name].value, { value: null, reason: 'the plan Free does not include traces' });
  const series = await harness.request('GET', `/api/overview/timeseries?${range}`, { as: `token ${token}` });
  t.deepEqual(
    series.body.series.map(({ name }: Item) => name),
    ['logs', 'errorLogs'],
  );
  t.deepEqual(series.body.partial, [
    { code: 'retention', message: 'no traces: the plan Free does not include traces' },
  ]);
});

test('the points of each series add up to its counter', async (t) => {
  const { counters } = await get(`/api/overview?${range}`);
  const { series } = await get(`/api/overview/timeseries?${range}&step=7m`);
  for (const name of ['logs', 'errorLogs', 'spans', 'requests', 'errors']) {
    const { points } = series.find((each: Item) => each['name'] === name);
    t.is(
      points.reduce((sum: number, [, value]: [number, number]) => sum + value, 0),
      counters[name].value,
      name,
    );
  }
});

test('attention items are returned only on request', async (t) => {
  t.false('attention' in (await get(`/api/overview?${range}`)));
});
