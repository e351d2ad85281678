/** Databases, engines and statements over stored rows, compared with hand-written SQL and arithmetic. */
import test from 'ava';
import { getDurationBucket } from '../../schemas/tables/durations.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
const minuteMs = 60_000;
const minute = (Math.floor(Date.now() / minuteMs) - 10) * minuteMs;
/** Series are recorded once an hour. These were recorded before the range, and still have points in it. */
const noted = minute - 40 * minuteMs;
const canary = 'canary-of-b';

interface Span {
  readonly tenant?: string;
  readonly project?: string;
  readonly service?: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly durationNs: number;
  readonly failed?: boolean;
  readonly kind?: number;
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const mapOf = (attributes: Readonly<Record<string, string>>): string =>
  `map(${Object.entries(attributes).flat().map(quoted).join(', ')})`;

const spanRow = (
  { tenant = 'a', project = 'shop', service = 'cart', attributes, durationNs, failed = false, kind = 3 }: Span,
  at: number,
): string =>
  `(now64(3), fromUnixTimestamp64Milli(${minute + at}), ${durationNs}, ${quoted(tenant)}, ${quoted(project)}, ${quoted(service)}, 'query', ${kind}, ${failed ? 2 : 0}, ${mapOf(attributes)}, '${'s'.repeat(Object.keys(attributes).length)}', unhex('${(at + 1).toString(16).padStart(32, '0')}'), unhex('${(at + 1).toString(16).padStart(16, '0')}'))`;

const present = (system: string, text: string) => ({
  'db.system.name': system,
  'db.namespace': 'orders',
  'db.query.text': text,
});
const former = (system: string, text: string) => ({ 'db.system': system, 'db.name': 'orders', 'db.statement': text });

const spans: readonly Span[] = [
  { attributes: present('postgresql', 'SELECT * FROM users WHERE id = 1'), durationNs: 1_000_000 },
  { attributes: former('postgresql', 'select * from users where id = $1'), durationNs: 3_000_000, failed: true },
  { attributes: present('postgresql', 'SELECT * FROM users WHERE id = 77'), durationNs: 8_000_000, service: 'web' },
  { attributes: present('postgresql', 'UPDATE users SET a = 5'), durationNs: 500_000, project: 'other' },
  { attributes: former('mssql', "SELECT [a] FROM t WHERE b = N'secret'"), durationNs: 10_000_000 },
  {
    attributes: {
      ...present('mongodb', '{"find": "users", "filter": {"name": "secret"}}'),
      'db.collection.name': 'users',
    },
    durationNs: 2_000_000,
  },
  { attributes: { 'db.system.name': 'redis', 'db.operation.name': 'GET' }, durationNs: 100 },
  { attributes: present('postgresql', 'SELECT * FROM users WHERE id = 1'), durationNs: 5_000_000, kind: 2 },
  { attributes: { 'http.request.method': 'GET' }, durationNs: 5_000_000 },
  {
    attributes: present('postgresql', `SELECT * FROM ${canary.replaceAll('-', '_')}`),
    durationNs: 5_000_000,
    tenant: 'b',
  },
];

const edge = (
  tenant: string,
  client: string,
  server: string,
  system: string,
  address: string,
  durations: readonly number[],
  errors: number,
): string => {
  const buckets = durations.map((duration) => getDurationBucket(duration));
  const counts = [...new Set(buckets)].map(
    (bucket) => `${bucket}, ${buckets.filter((each) => each === bucket).length}`,
  );
  const sum = durations.reduce((total, each) => total + each, 0);
  return `(now64(3), toDateTime(${minute / 1000}), ${[tenant, 'shop', 'shop', 'query', client, 'service', server, 'database', system, address].map(quoted).join(', ')}, ${durations.length}, ${errors}, ${durations.length}, ${sum}, ${Math.max(...durations)}, map(${counts.join(', ')}))`;
};

test.before(async () => {
  harness = await startHarness({ projects: ['shop', 'other'] });
  await harness.columns.execute(
    `INSERT INTO spans (received_at, timestamp, duration, tenant_id, project_id, service, name, kind, status_code, attributes, attribute_types, trace_id, span_id) VALUES ${spans.map(spanRow).join(', ')}`,
  );
  await harness.columns.execute(
    `INSERT INTO service_edges (received_at, minute, tenant_id, project_id, server_project_id, connection, client, client_kind, server, server_kind, system, address, requests, errors, timed, duration_sum, duration_max, duration_buckets) VALUES ${[
      edge('a', 'cart', 'orders', 'postgresql', 'db1:5432', [1e6, 2e6, 3e6], 1),
      edge('a', 'web', 'orders', 'postgresql', 'db1:5432', [5e6], 0),
      edge('a', 'cart', 'bills', 'mssql', '', [4e6], 0),
      edge('b', 'x', canary, 'postgresql', '', [4e6], 0),
    ].join(', ')}`,
  );
  await harness.columns.execute(
    `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, temporality, monotonic, resource_id, attributes, attribute_types, first_seen, last_seen) VALUES
      ('a', 'shop', 'postgresql.backends', 1, 'sum', 2, false, 11, map(), '', fromUnixTimestamp64Milli(${minute}), fromUnixTimestamp64Milli(${minute})),
      ('a', 'shop', 'redis_connected_clients', 2, 'gauge', 0, false, 0, map('instance', 'cache:9121'), 's', fromUnixTimestamp64Milli(${noted}), fromUnixTimestamp64Milli(${noted})),
      ('a', 'shop', 'statements.calls', 3, 'sum', 2, true, 0, map('db.query.text', 'SELECT * FROM users WHERE id = ?', 'db.system.name', 'postgresql'), 'ss', fromUnixTimestamp64Milli(${noted}), fromUnixTimestamp64Milli(${noted}))`,
  );
  await harness.columns.execute(
    `INSERT INTO resources (tenant_id, resource_id, attributes, attribute_types, first_seen, last_seen) VALUES
      ('a', 11, map('postgresql.database.name', 'orders', 'service.instance.id', 'db1:5432'), 'ss', fromUnixTimestamp64Milli(${minute}), fromUnixTimestamp64Milli(${minute}))`,
  );
  await harness.columns.execute(
    `INSERT INTO logs (received_at, timestamp, tenant_id, project_id, event_name, attributes, attribute_types) VALUES
      (now64(3), fromUnixTimestamp64Milli(${minute}), 'a', 'other', 'db.server.query_sample', map('db.query.text', 'SELECT * FROM users WHERE id = 9', 'db.system.name', 'postgresql'), 'ss')`,
  );
});
test.after.always(() => harness?.close());

const range = `from=${minute}&to=${minute + 2 * minuteMs - 1}`;
const get = async (path: string, as: 'viewer' | 'owner' = 'viewer') => {
  const { status, body } = await harness.request('GET', path, { as });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  t_noCanary(JSON.stringify(body));
  return body;
};
const t_noCanary = (text: string): void => {
  if (text.includes(canary) || text.includes(canary.replaceAll('-', '_')))
    throw new Error('a response contains rows of another organization');
};

test('a statement is identified as one, whatever attribute names the sender uses and whatever its values are', async (t) => {
  const { items } = await get(`/api/databases/queries?${range}`);
  const one = items.find(({ statement }: { statement: string }) => statement === 'select * from users where id=?');
  t.is(one.engine, 'postgresql');
  t.deepEqual([one.calls, one.errors, one.errorRate], [3, 1, 1 / 3]);
  t.deepEqual(one.services, ['cart', 'web']);
  t.deepEqual([one.duration.sum, one.duration.mean, one.duration.max], [12_000_000, 4_000_000, 8_000_000]);
  t.true(Math.abs(one.duration.p50 / 3_000_000 - 1) < 0.045);
  t.is(one.slowest.spanId, '0000000000000003');
  t.deepEqual([one.logs, one.series], [1, 1]);
  const total = 12_000_000 + 500_000 + 10_000_000 + 2_000_000 + 100;
  t.true(Math.abs(one.duration.share - 12_000_000 / total) < 1e-9);
});

test('statements are listed by total time, name the current product, and contain no value of a sender', async (t) => {
  const { items } = await get(`/api/databases/queries?${range}`);
  t.deepEqual(
    items.map(({ engine, statement }: { engine: string; statement: string }) => `${engine}: ${statement}`),
    [
      'postgresql: select * from users where id=?',
      'microsoft.sql_server: select a from t where b=?',
      'mongodb: users {find: ?,filter: {name: ?}}',
      'postgresql: update users set a=?',
      'redis: get',
    ],
  );
  t.false(JSON.stringify(items).includes('secret'));
});

test('statements are filtered by engine, service, project, database and text, and sorted in other orders', async (t) => {
  const statements = async (query: string): Promise<string[]> =>
    (await get(`/api/databases/queries?${range}&${query}`)).items.map(
      ({ statement }: { statement: string }) => statement,
    );
  t.deepEqual(await statements('engine=mssql'), ['select a from t where b=?']);
  t.deepEqual(await statements('service=web'), ['select * from users where id=?']);
  t.deepEqual(await statements('projectId=other'), ['update users set a=?']);
  t.deepEqual(await statements('database=orders&engine=mongodb'), ['users {find: ?,filter: {name: ?}}']);
  t.deepEqual(await statements('search=UPDATE'), ['update users set a=?']);
  t.is((await statements('sort=-calls'))[0], 'select * from users where id=?');
  t.is((await statements('sort=-mean'))[0], 'select a from t where b=?');
});

test('records and series with a statement are counted within the requested project', async (t) => {
  const known = async (query: string): Promise<number[]> => {
    const { items } = await get(`/api/databases/queries?${range}&search=select * from users&${query}`);
    return [items[0].logs, items[0].series];
  };
  t.deepEqual(await known('scope=account'), [1, 1]);
  t.deepEqual(await known('projectId=shop'), [0, 1]);
});

test('pages of statements contain each statement once', async (t) => {
  const seen: string[] = [];
  let cursor = '';
  do {
    const { items, nextCursor } = await get(`/api/databases/queries?${range}&limit=2${cursor}`);
    seen.push(...items.map(({ digest }: { digest: string }) => digest));
    cursor = nextCursor === null ? '' : `&cursor=${nextCursor}`;
  } while (cursor !== '');
  t.is(seen.length, 5);
  t.is(new Set(seen).size, 5);
});

test('databases come from calls of services and from metrics, and are merged if both name the same database', async (t) => {
  const { items } = await get(`/api/databases?${range}`);
  t.deepEqual(
    items.map(({ id, seenBy }: { id: string; seenBy: string[] }) => [id, ...seenBy]),
    [
      ['microsoft.sql_server:bills', 'calls'],
      ['postgresql:orders', 'calls', 'metrics'],
      ['redis:cache:9121', 'metrics'],
    ],
  );
  const [bills, orders, cache] = items;
  t.deepEqual([orders.calls.requests, orders.calls.errors, orders.calls.duration.mean], [4, 1, 2_750_000]);
  t.deepEqual(orders.calls.callers, ['cart', 'web']);
  t.deepEqual(orders.addresses, ['db1:5432']);
  t.deepEqual(orders.series, { value: 1, reason: null });
  t.is(bills.series.value, null);
  t.regex(bills.series.reason, /no metrics/);
  t.is(cache.calls.value, null);
  t.regex(cache.calls.reason, /no service called/);
  const first = await get(`/api/databases?${range}&limit=2`);
  const rest = await get(`/api/databases?${range}&limit=2&cursor=${first.nextCursor}`);
  t.deepEqual([...first.items, ...rest.items], items);
  t.is(rest.nextCursor, null);
});

test('engines show how many databases were seen and which figures are available', async (t) => {
  const { items } = await get(`/api/databases/engines?${range}`);
  const of = (name: string) => items.find(({ engine }: { engine: string }) => engine === name);
  t.deepEqual(
    [of('postgresql').databases, of('postgresql').calledDatabases, of('postgresql').watchedDatabases],
    [1, 1, 1],
  );
  t.true(of('postgresql').figures.includes('cacheHitRatio'));
  t.deepEqual([of('mysql').databases, of('microsoft.sql_server').databases], [0, 1]);
});

test('an engine is also found by its former name, and missing figures state which metrics would provide them', async (t) => {
  const engine = await get(`/api/databases/mssql?${range}`);
  t.is(engine.engine, 'microsoft.sql_server');
  t.deepEqual(
    engine.databases.map(({ name }: { name: string }) => name),
    ['bills'],
  );
  const [figure] = engine.figures;
  t.is(figure.value, null);
  t.regex(figure.reason, /sqlserverreceiver/);
  t.true(figure.metrics.includes('sqlserver.user.connection.count'));
});

test("series of an engine's calls are grouped by database and minute", async (t) => {
  const { series, unit, stepMs } = await get(`/api/databases/postgresql/timeseries?${range}&figure=requests&step=1m`);
  t.deepEqual([unit, stepMs], ['{request}', minuteMs]);
  t.deepEqual(series, [{ name: 'requests', labels: { database: 'orders' }, unit: '{request}', points: [[minute, 4]] }]);
  const { body, status } = await harness.request(
    'GET',
    `/api/databases/postgresql/timeseries?${range}&figure=nothing`,
    {
      as: 'viewer',
    },
  );
  t.is(status, 400);
  t.regex(JSON.stringify(body), /requestRate.*cacheHitRatio/);
});
