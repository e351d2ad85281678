/** Reads use the indexes that exist for them, and materialized views contain the inserted data. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { buildBucketSql, buildQuantileSql } from '../../schemas/tables/durations.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import {
  buildAttributeEqualsSql,
  buildBodyHasAllWords,
  buildBodyHasAnyWord,
  traceIs,
} from '../../schemas/tables/search.ts';
import { buildWordsTextSql } from '../../schemas/tables/search-text.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { copyColumns } from '../services/columns-template.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-tables-'));
let columns: Columns;

const hour = "toDateTime64('2026-03-01 10:00:00', 3, 'UTC')";

test.before(async () => {
  copyColumns(directory);
  columns = await openChdbColumns({ directory });
  await migrate(columns, silentLog);
  const rows = `'t', 'p', ${hour}, ${hour} + number / 10, concat('svc-', toString(number % 5)), map('n', toString(number), 'long', repeat('x', 200)), unhex(leftPad(hex(number), 32, '0'))`;
  await columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, timestamp, service, attributes, trace_id, body) SELECT ${rows}, concat('Order ', toString(number), ' größe done') FROM numbers(40000)`,
  );
  await columns.execute(
    `INSERT INTO spans (tenant_id, project_id, received_at, timestamp, service, attributes, trace_id, name, kind, duration, status_code) SELECT ${rows}, 'GET /x', 2, (number + 1) * 1000, if(number % 10 = 0, 2, 0) FROM numbers(40000)`,
  );
  await columns.execute(
    `INSERT INTO samples (tenant_id, received_at, metric, series_id, timestamp) SELECT 't', ${hour}, concat('m', toString(number % 50)), number % 1000, ${hour} + number FROM numbers(100000)`,
  );
});

test.after.always(async () => {
  await columns.close();
  rmSync(directory, { recursive: true, force: true });
});

/** The index that must narrow the read, the condition, and the number of rows. */
const reads: readonly (readonly [table: string, index: string, condition: string, rows: number])[] = [
  ['logs', 'text_words', buildBodyHasAllWords('order 31337'), 1],
  ['logs', 'text_words', buildBodyHasAllWords('ORDER 31337 größe'), 1],
  ['logs', 'text_words', buildBodyHasAllWords('rder'), 0],
  ['logs', 'text_words', buildBodyHasAnyWord('31337 5 nothing'), 2],
  ['logs', 'text_words', buildBodyHasAllWords('31337 ... order'), 1],
  ['logs', 'attribute_pairs', buildAttributeEqualsSql("'n'", "'31337'"), 1],
  ['logs', 'attribute_pairs', buildAttributeEqualsSql("'n'", "'x'"), 0],
  ['spans', 'attribute_pairs', buildAttributeEqualsSql("'n'", "'31337'"), 1],
  ['logs', 'trace', traceIs(`'${'7a69'.padStart(32, '0')}'`), 1],
  ['spans', 'trace', traceIs(`'${'7a69'.padStart(32, '0')}'`), 1],
  ['spans', 'duration_range', 'duration > 39990000', 10],
  ['logs', 'PrimaryKey', "timestamp >= '2026-03-01 11:00:00'", 4000],
  ['spans', 'PrimaryKey', "timestamp >= '2026-03-01 11:00:00'", 4000],
  ['samples', 'PrimaryKey', "metric = 'm7' AND series_id IN (7, 57)", 200],
];

for (const [number, [table, index, condition, rows]] of reads.entries()) {
  test(`${table}, query ${number}: ${index} narrows … ${condition.slice(-40)}`, async (t) => {
    const where = `FROM ${table} WHERE tenant_id = 't' AND ${condition}`;
    t.deepEqual(await columns.query(`SELECT count() AS rows ${where}`), [{ rows: String(rows) }]);
    const plan = await columns.query<{ explain: string }>(`EXPLAIN indexes = 1 SELECT count() ${where}`);
    const text = plan.map(({ explain }) => explain).join('\n');
    const at = text.search(new RegExp(`(Name: | )${index}$`, 'm'));
    const [, selectedGranules, all] = /Granules: (\d+)\/(\d+)/.exec(text.slice(at)) ?? [];
    t.true(at >= 0 && Number(selectedGranules) < Number(all), text);
  });
}

const bodies = [
  'Payment FAILED: card_declined (402)',
  "user's größe\\n漢字x {id:String} a-b_c",
  'tab\there\0nul 🙂smile ÄPFEL',
  'one two three four five six',
  '',
];
const searches = [
  'payment failed',
  'declined CARD 402',
  'card_declined',
  'decline',
  'größe',
  'gr',
  '漢字X',
  '漢字',
  "user's",
  '{id:String}',
  "s') OR true --",
  'nul\0here',
  '🙂smile',
  '🙂',
  'äpfel',
  'ÄPFEL',
  'six five four three two one',
  'six five four three two zero',
  'three four five six no',
  'one one ONE',
  ' .,_-\0\n',
  '',
  '\u{d800}',
];

test('a word search returns the same as the engine, for all words and for any of the words', async (t) => {
  // Without an index, which would hide errors in the rest of the condition.
  for (const [index, body] of bodies.entries())
    await columns.execute(
      `INSERT INTO logs (tenant_id, received_at, timestamp, offset, body) SETTINGS materialize_skip_indexes_on_insert = 0 VALUES ('w', ${hour}, ${hour}, ${index}, ${quoteString(body)})`,
    );
  const found = async (condition: string, parameters = {}): Promise<unknown> =>
    columns.query(`SELECT body FROM logs WHERE tenant_id = 'w' AND ${condition} ORDER BY offset`, parameters);
  for (const text of searches) {
    const parameters = { text };
    const tokens = `${buildWordsTextSql('body')}, ${buildWordsTextSql('{text:String}')}`;
    const all = await found(`hasAllTokens(${tokens})`, parameters);
    t.deepEqual(await found(buildBodyHasAllWords(text)), all, `all of ${JSON.stringify(text)}`);
    const any = await found(`hasAnyTokens(${tokens})`, parameters);
    t.deepEqual(await found(buildBodyHasAnyWord(text)), any, `any of ${JSON.stringify(text)}`);
  }
  t.deepEqual(await found(buildBodyHasAllWords('six five four three two one')), [
    { body: 'one two three four five six' },
  ]);
});

test('a long attribute value is matched by its full length', async (t) => {
  const count = (value: string) =>
    columns.query(
      `SELECT count() AS rows FROM logs WHERE tenant_id = 't' AND ${buildAttributeEqualsSql("'long'", value)}`,
    );
  t.deepEqual(await count("repeat('x', 200)"), [{ rows: '40000' }]);
  t.deepEqual(await count("repeat('x', 201)"), [{ rows: '0' }]);
});

test('requests, errors and durations per minute match those of the spans', async (t) => {
  const [sums] = await columns.query<Record<string, number>>(
    `SELECT toFloat64(sum(requests)) AS requests, toFloat64(sum(errors)) AS errors, toFloat64(uniqExact(minute)) AS minutes,
toFloat64(uniqExact(service)) AS services, ${buildQuantileSql(0.5)} AS median, ${buildQuantileSql(0.99)} AS p99
FROM span_metrics WHERE tenant_id = 't' AND endpoint = 'GET /x'`,
  );
  t.is(sums?.requests, 40000);
  t.is(sums?.errors, 4000);
  t.is(sums?.minutes, 67);
  t.is(sums?.services, 5);
  t.true(Math.abs(Number(sums?.median) / 20_000_000 - 1) < 0.05, String(sums?.median));
  t.true(Math.abs(Number(sums?.p99) / 39_600_000 - 1) < 0.05, String(sums?.p99));
});

test('the endpoint is the route if the span has one; internal and unspecified spans count only as root spans', async (t) => {
  const span =
    "INSERT INTO spans (tenant_id, received_at, timestamp, name, kind, parent_span_id, attributes) VALUES ('e', now64(3), now64(9),";
  await columns.execute(`${span} 'GET', 2, 'parent01', map('http.route', '/a/{id}'))`);
  await columns.execute(`${span} 'job', 1, '', map())`);
  await columns.execute(`${span} 'old job', 0, '', map())`);
  for (const kind of [0, 1]) await columns.execute(`${span} 'step', ${kind}, 'parent01', map())`);
  const rows = await columns.query("SELECT endpoint FROM span_metrics WHERE tenant_id = 'e' ORDER BY endpoint");
  t.deepEqual(rows, [{ endpoint: '/a/{id}' }, { endpoint: 'job' }, { endpoint: 'old job' }]);
});

test('durations of failed spans cover only the spans with an error', async (t) => {
  const [sums] = await columns.query(
    "SELECT toString(sumMap(error_buckets)) AS buckets FROM span_metrics WHERE tenant_id = 't'",
  );
  const [expected] = await columns.query(
    `SELECT toString(sumMap(map(${buildBucketSql('duration')}, toUInt64(1)))) AS buckets FROM spans WHERE tenant_id = 't' AND status_code = 2`,
  );
  t.deepEqual(sums, expected);
});

test('the activity of a resource per minute matches its records that landed', async (t) => {
  const resource = 'cityHash64(service)';
  await columns.execute(
    `INSERT INTO logs (tenant_id, received_at, timestamp, service, resource_id, severity_number, severity_text) SELECT 'r', now64(3), ${hour} + number / 7, concat('svc-', toString(number % 3)) AS service, ${resource}, number % 24, ['CRIT', 'warning', 'other', '\\x1b[31merr\\x1b[0m'][1 + number % 5] FROM numbers(5000)`,
  );
  await columns.execute(
    `INSERT INTO spans (tenant_id, received_at, timestamp, service, resource_id, kind, parent_span_id, status_code, duration) SELECT 'r', now64(3), ${hour} + number / 9, concat('svc-', toString(number % 4)) AS service, ${resource}, number % 6, if(number % 5 = 0, '', 'parent01'), number % 7 = 0 ? 2 : 0, (number * 7919) % 100000 FROM numbers(5000)`,
  );
  const key = 'toString(minute) AS minute, service, toString(resource_id) AS resource';
  const landed = await columns.query(
    `SELECT ${key}, toString(sum(l)) AS logs, toString(sum(le)) AS error_logs, toString(sum(s)) AS spans, toString(sum(r)) AS requests, toString(sum(e)) AS errors, toString(sumIf(d, r)) AS duration, toString(maxIf(d, r)) AS longest, toString(sumMapIf(map(${buildBucketSql('d')}, toUInt64(1)), r)) AS buckets, toString(sumMapIf(map(${buildBucketSql('d')}, toUInt64(1)), e)) AS failed,
      toString(min(at)) AS first, toString(max(at)) AS last FROM (
      SELECT toStartOfMinute(timestamp) AS minute, service, resource_id, timestamp AS at, 1 AS l, severity_number > 16 OR (severity_number = 0 AND severity_text IN ('CRIT', '\\x1b[31merr\\x1b[0m')) AS le, 0 AS s, 0 AS r, 0 AS e, toUInt64(0) AS d FROM logs WHERE tenant_id = 'r'
      UNION ALL SELECT toStartOfMinute(timestamp), service, resource_id, timestamp, 0, 0, 1, kind = 2 OR kind = 5 OR (kind < 2 AND empty(toStringCutToZero(parent_span_id))), status_code = 2 AND (kind = 2 OR kind = 5 OR (kind < 2 AND empty(toStringCutToZero(parent_span_id)))), duration FROM spans WHERE tenant_id = 'r'
    ) GROUP BY ALL ORDER BY ALL`,
  );
  const counted = await columns.query(
    `SELECT ${key}, toString(sum(resource_activity.logs)) AS logs, toString(sum(resource_activity.error_logs)) AS error_logs, toString(sum(resource_activity.spans)) AS spans,
      toString(sum(resource_activity.requests)) AS requests, toString(sum(resource_activity.errors)) AS errors, toString(sum(duration_sum)) AS duration, toString(max(duration_max)) AS longest, toString(sumMap(duration_buckets)) AS buckets, toString(sumMap(error_buckets)) AS failed,
      toString(min(first_seen)) AS first, toString(max(last_seen)) AS last
    FROM resource_activity WHERE tenant_id = 'r' GROUP BY ALL ORDER BY ALL`,
  );
  t.true(landed.length > 30);
  t.deepEqual(counted, landed);
});

test('a resource yields every entity that its attributes identify', async (t) => {
  await columns.execute(
    "INSERT INTO resources (tenant_id, resource_id, attributes, first_seen, last_seen) VALUES ('i', 1, map('service.name', 'cart', 'service.namespace', 'shop', 'host.id', 'h-1', 'host.name', 'web', 'process.pid', '12', 'k8s.pod.name', 'p-1', 'k8s.namespace.name', 'prod', 'k8s.deployment.name', 'cart', 'container.id', 'c1'), now64(3), now64(3))",
  );
  const rows = await columns.query<{ entity: string }>(
    "SELECT concat(kind, ' ', id, ' ', name) AS entity FROM entities WHERE tenant_id = 'i' ORDER BY entity",
  );
  t.deepEqual(
    rows.map(({ entity }) => entity),
    [
      'container c1 c1',
      'deployment prod/cart cart',
      'host h-1 web',
      'namespace prod prod',
      'pod prod/p-1 p-1',
      'process web/12 12',
      'service shop/cart cart',
    ],
  );
});
