/** What a query returns besides its values, over stored records: cost, freshness, truncation, and rejections. */
import '../../subjects/query-kinds.ts';
import { readFileSync } from 'node:fs';
import test from 'ava';
import type { z } from 'zod';
import { RequestResults } from '../../queries/batch/results.ts';
import { QueryError } from '../../queries/errors.ts';
import { explain } from '../../queries/explain.ts';
import { openPromql } from '../../queries/promql/evaluation/threads.ts';
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import type { AggregateQuery, QueryRequest } from '../../queries/query.ts';
import { parseQuery, run } from '../../queries/run.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { logsRequest, messageOf, openTables, receivedAtMs, type Tables, text, tracesRequest } from './sink-tables.ts';

let tables: Tables;
const beginNs = BigInt(receivedAtMs) * 1_000_000n - 60_000_000_000n;
const range = { from: beginNs, to: beginNs + 60_000_000_000n };
const records = 30;

const logs = (service: string) => ({
  resource: { attributes: [text('service.name', service), text('host.name', `${service}-host`)] },
  scopeLogs: [
    {
      logRecords: Array.from({ length: records }, (_, index) => ({
        timeUnixNano: String(beginNs + BigInt(index) * 1_000_000_000n),
        severityNumber: index % 5 === 0 ? 17 : 9,
        body: { stringValue: `line ${index}` },
        attributes: [text('took', String(index)), text('user', `u${index % 3}`)],
      })),
    },
  ],
});

test.before(async () => {
  tables = await openTables();
  const message = messageOf([logsRequest({ resourceLogs: [logs('cart'), logs('shop')] })]);
  await tables.land([message]);
  await tables.land([messageOf([logsRequest({ resourceLogs: [logs('canary')] })], { tenantId: 'other' })]);
  const spans = {
    resource: { attributes: [text('service.name', 'cart')] },
    scopeSpans: [
      { spans: [{ name: 'GET', startTimeUnixNano: String(beginNs), endTimeUnixNano: String(beginNs + 5_000_000n) }] },
    ],
  };
  await tables.land([messageOf([tracesRequest({ resourceSpans: [spans] })], { signal: 'traces' })], { sink: 'traces' });
});
test.after.always(() => tables.close());

const threads = openPromql({ size: 1 });
test.after.always(() => threads.close());

const reader = (plan = 'enterprise', tenantId = 'acme'): QueryReader => ({
  columns: tables.columns.forTenant(tenantId),
  plan: defaultPlans[plan] as Plan,
  promql: { threads, translation: { strategy: 'UnderscoreEscapingWithSuffixes', promoted: [], scopeLabels: true } },
  nowMs: receivedAtMs + 1_000,
});
const countBy = (...groupBy: string[]): z.input<typeof AggregateQuery> => ({
  kind: 'aggregate',
  signal: 'logs',
  measures: [{ function: 'count' }],
  groupBy,
});

test('a result includes its range, its cost, its units and its freshness', async (t) => {
  const { cost, freshness, ...rest } = await run(countBy('service', 'host.name'), reader(), { range });
  t.deepEqual(rest, {
    form: 'table',
    series: [],
    stepMs: null,
    partialSteps: [],
    partial: [],
    columns: [
      { name: 'service', type: 'text', unit: '' },
      { name: 'host.name', type: 'text', unit: '' },
      { name: 'count', type: 'number', unit: '{record}' },
    ],
    rows: [
      ['cart', 'cart-host', records],
      ['shop', 'shop-host', records],
    ],
    from: '2026-03-01T09:59:00.123000000Z',
    to: '2026-03-01T10:00:00.123000000Z',
  });
  t.deepEqual(freshness, { landedUpTo: '2026-03-01T10:00:00.123000000Z' });
  t.true(cost.rowsRead >= 2 * records && cost.bytesRead > 0 && cost.elapsedMs > 0 && !cost.isCached);
});

test('a repeated query for rows reads only where the engine remembers possible matches', async (t) => {
  const rows = 40_000;
  await tables.columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, timestamp, attributes)
    SELECT 'many', 'default', fromUnixTimestamp64Milli(toInt64(${receivedAtMs}), 'UTC'), fromUnixTimestamp64Nano(toInt64(${beginNs} + number), 'UTC'),
      map('user', toString(number)) FROM numbers(${rows})`,
  );
  const query = { kind: 'rows', signal: 'logs', search: 'attribute.user:/^7$/', limit: 100 } as const;
  const runQuery = () => run(query, reader('enterprise', 'many'), { range });
  const first = await runQuery();
  t.is(first.rows?.length, 1);
  const second = await runQuery();
  t.deepEqual(second.rows, first.rows);
  t.true(
    second.cost.rowsRead <= first.cost.rowsRead - rows / 2,
    `${first.cost.rowsRead}, ${second.cost.rowsRead} rows`,
  );
});

test('a shifted long range reads only where rows are possible, and finds all its rows', async (t) => {
  const rows = 40_000;
  const foundAt = 30_000n;
  await tables.columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, timestamp, attributes, body)
    SELECT 'moving', 'default', fromUnixTimestamp64Milli(toInt64(${receivedAtMs}), 'UTC'), fromUnixTimestamp64Nano(toInt64(${beginNs} + number), 'UTC'),
      map('user', toString(number)), concat('order ', toString(number)) FROM numbers(${rows})`,
  );
  const hourNs = 3_600_000_000_000n;
  const runSearch = async (search: string, from: bigint, to: bigint) => {
    const query = { kind: 'rows', signal: 'logs', search, limit: 100 } as const;
    const { rows: found, cost } = await run(query, reader('enterprise', 'moving'), { range: { from, to } });
    return { found: found.length, rowsRead: cost.rowsRead };
  };
  const at = BigInt(beginNs) + foundAt;
  for (const search of [`attribute.user:${foundAt}`, `order ${foundAt}`, `attribute.user:/^${foundAt}$/`]) {
    const counts: number[] = [];
    for (const [from, to] of [
      ...[[at - hourNs, at - 1n] as const, [at + 1n, at + hourNs] as const],
      ...[[at - hourNs, at] as const, [at, at + hourNs] as const, [at - hourNs, at + 9_999n] as const],
      [at - hourNs, at - 1n] as const,
    ])
      counts.push((await runSearch(search, from, to)).found);
    t.deepEqual(counts, [0, 0, 1, 1, 1, 0], search);
  }
  const first = await runSearch('attribute.user:/^29999$/', at - hourNs, at + hourNs);
  const moved = await runSearch('attribute.user:/^29999$/', at - hourNs + 7n, at + hourNs + 7n);
  t.deepEqual([first.found, moved.found], [1, 1]);
  t.true(moved.rowsRead <= first.rowsRead - rows / 2, `${first.rowsRead}, ${moved.rowsRead} rows`);
});

test('if no records have landed lately, the freshness of a result is unknown', async (t) => {
  const { freshness, rows } = await run(countBy(), reader('enterprise', 'nobody'), { range });
  t.deepEqual(rows, [[0]]);
  t.deepEqual(freshness, { value: null, reason: 'no logs of the last 20 minutes have landed' });
});

test('steps start at multiples of the step, and steps partially in the range are listed', async (t) => {
  const { series, partialSteps } = await run(countBy(), reader(), { range, stepMs: 10_000 });
  const first = Date.UTC(2026, 2, 1, 9, 59, 0);
  const counts = [20, 20, 20, 0, 0, 0, 0];
  t.deepEqual(
    series[0]?.points,
    counts.map((count, index): [number, number] => [first + index * 10_000, count]),
  );
  t.deepEqual(partialSteps, [first, first + 60_000]);
});

test('groups and records above the limit are reported, in tables and in series', async (t) => {
  const groups: QueryRequest = { ...countBy('took'), limit: 3 };
  for (const stepMs of [undefined, 60_000]) {
    const { partial, rows, series } = await run(groups, reader(), { range, stepMs });
    t.is(rows.length + series.length, 3);
    t.deepEqual(partial, [
      { code: 'groups', message: 'there are more groups: these are the 3 with the largest count' },
    ]);
  }
  const rows = await run(
    { kind: 'rows', signal: 'logs', limit: 4, fields: ['timestamp', 'took', 'resource.host.name', 'missing'] },
    reader(),
    { range },
  );
  t.deepEqual(rows.partial, [{ code: 'rows', message: 'there are more records: these are the newest 4' }]);
  t.deepEqual(
    rows.rows.map(([, duration]) => duration),
    ['29', '29', '28', '28'],
  );
  t.deepEqual(rows.rows[0]?.slice(2).sort(), [rows.rows[0]?.[2], null].sort());
});

test('complete records have the columns of the list', async (t) => {
  const { columns, rows } = await run({ kind: 'rows', signal: 'logs', order: 'oldest', limit: 1 }, reader(), {
    range,
  });
  const record = Object.fromEntries(columns.map(({ name }, index) => [name, rows[0]?.[index]]));
  t.like(record, {
    timestamp: '2026-03-01T09:59:00.123000000Z',
    body: 'line 0',
    attributes: { took: '0', user: 'u0' },
  });
  const spans = await run({ kind: 'rows', signal: 'traces' }, reader(), { range });
  t.is(spans.rows.length, 1);
  t.is(spans.columns[0]?.name, 'startTime');
});

test('a formula is calculated over queries of several signals', async (t) => {
  const formula: QueryRequest = {
    kind: 'formula',
    expression: '100 * errors / all',
    queries: {
      errors: { ...countBy('service'), search: 'severity:error' },
      all: { ...countBy('service') },
      spans: { kind: 'aggregate', signal: 'traces', measures: [{ function: 'avg', field: 'duration' }] },
    },
  };
  const { rows, columns } = await run(formula, reader(), { range });
  t.deepEqual(rows, [
    ['cart', 20],
    ['shop', 20],
  ]);
  t.is(columns.at(-1)?.unit, '%');
  const twice = await run({ ...formula, expression: 'spans * 2' }, reader(), { range });
  t.deepEqual(twice.rows, [[10_000_000]]);
  t.deepEqual(twice.columns.at(-1), { name: 'value', type: 'duration', unit: 'ns' });
});

const code = async (query: unknown, plan?: string, at = range, stepMs?: number): Promise<string> => {
  try {
    await run(query as QueryRequest, reader(plan), { range: at, stepMs });
    return 'answered';
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return `${error.code} ${error.path ?? ''}`.trim();
  }
};

test('a plan without a signal, or with expired retention, is enforced in every part of a query', async (t) => {
  const spans = { kind: 'aggregate', signal: 'traces', measures: [{ function: 'count' }] };
  const hidden = { kind: 'formula', expression: 'a', queries: { a: countBy(), b: spans } };
  const day = 86_400_000_000_000n;
  const old = { from: range.from - 10n * day, to: range.to };
  t.is(await code(spans, 'free'), 'UPGRADE_REQUIRED');
  t.is(await code(hidden, 'free'), 'UPGRADE_REQUIRED');
  t.is(await code({ ...hidden, queries: { a: countBy() } }, 'free'), 'answered');
  t.is(await code(countBy(), 'free', old), 'RETENTION_EXCEEDED');
  t.is(await code({ ...hidden, queries: { a: countBy() } }, 'free', old), 'RETENTION_EXCEEDED');
  t.is(await code(countBy(), 'pro', old), 'answered');
});

test('panels return what the plan retains of a longer range, and the reason why the rest is missing', async (t) => {
  const day = 86_400_000_000_000n;
  const old = { from: range.from - 10n * day, to: range.to };
  const results = new RequestResults(reader('free'), new AbortController().signal);
  const total = await results.getResult(parseQuery(countBy()), { range: old });
  t.deepEqual(total.rows, [[2 * records]]);
  t.is(total.partial.length, 1);
  t.is(total.partial[0]?.code, 'retention');
  t.regex(
    total.partial[0]?.message ?? '',
    /^the plan Free retains logs for \d+ days: nothing before 2026-02-\S+ can be read$/,
  );
  const promql = { kind: 'promql', expression: 'vector(1)' } as const;
  const series = await results.getResult(parseQuery(promql), { range: old, stepMs: 3_600_000 });
  const retainedFromMs = receivedAtMs + 1_000 - (defaultPlans['free'] as Plan).retentionDays.metrics * 86_400_000;
  t.true((series.series[0]?.points[0]?.[0] ?? 0) >= retainedFromMs);
  t.deepEqual(
    series.partial.map(({ code: reason }) => reason),
    ['retention'],
  );
  const isWithin = await results.getResult(parseQuery(promql), { range, stepMs: 10_000 });
  t.deepEqual(isWithin.partial, []);
  const earlier = { from: old.from, to: old.from + 1n };
  await t.throwsAsync(results.getResult(parseQuery(countBy()), { range: earlier }), { message: /retains logs for/ });
});

test('a step longer than the range has one point within the range, at its end', async (t) => {
  const toMs = Number(range.to / 1_000_000n);
  const query = { kind: 'promql', expression: 'time()' } as const;
  const readPoints = async (stepMs: number): Promise<unknown> =>
    (await run(query, reader(), { range, stepMs })).series[0]?.points;
  t.deepEqual(await readPoints(86_400_000), [[toMs, toMs / 1000]]);
  t.deepEqual(await readPoints(7_200_000), [[Date.UTC(2026, 2, 1, 10), Date.UTC(2026, 2, 1, 10) / 1000]]);
});

const wrong: readonly (readonly [object, string])[] = [
  [{ kind: 'aggregate', signal: 'logs', measures: [] }, 'query.measures'],
  [{ ...countBy(), measures: [{ function: 'avg' }] }, 'measures.0.field'],
  [{ ...countBy(), measures: [{ function: 'percentile', field: 'took' }] }, 'measures.0.percentile'],
  [{ ...countBy(), measures: [{ function: 'count' }, { function: 'count' }] }, 'measures.1.as'],
  [{ ...countBy(), measures: [{ function: 'count', search: '(' }] }, 'measures.0.search'],
  [{ ...countBy(), measures: [{ function: 'avg', field: 'timestamp' }] }, 'measures.0.function'],
  [{ ...countBy('timestamp') }, 'groupBy.0'],
  [{ ...countBy(), order: { by: 'nothing' } }, 'order.by'],
  [{ ...countBy(), search: 'a:>' }, 'search'],
  [{ ...countBy(), more: 1 }, 'query'],
];
for (const [query, path] of wrong)
  test(`an invalid query names its invalid part: ${JSON.stringify(query)}`, async (t) => {
    t.is(await code(query), `VALIDATION_FAILED ${path}`);
  });

test('steps are rejected for rows, and if there are too many to display', async (t) => {
  t.is(await code({ kind: 'rows', signal: 'logs' }, undefined, range, 1_000), 'VALIDATION_FAILED step');
  t.is(await code(countBy(), undefined, range, 1), 'VALIDATION_FAILED step');
});

test('no query returns another organization’s records', async (t) => {
  const queries: QueryRequest[] = [
    { ...countBy('service', 'host.name', 'body') },
    { kind: 'rows', signal: 'logs', fields: ['service', 'resource.host.name'] },
    { kind: 'rows', signal: 'logs' },
  ];
  for (const query of queries) t.notRegex(JSON.stringify(await run(query, reader(), { range })), /canary/);
});

test('a query can be explained with its statements, tables and indexes', async (t) => {
  const statements = await explain({ ...countBy('host.name'), search: 'line service:cart' }, reader(), { range });
  const tablesOf = (table: string) =>
    statements.flatMap(({ tables: read }) => read.filter((each) => each.table === table));
  t.true(tablesOf('resources').length > 0);
  const used = tablesOf('logs').flatMap(({ indexes }) => indexes);
  t.true(used.some(({ type, keys }) => type === 'PrimaryKey' && keys.includes('tenant_id')));
  t.true(used.some(({ type, name }) => type === 'Skip' && name !== null));
  t.true(statements.every(({ sql }) => sql.includes('{tenant:String}')));
  const stretches = await explain({ kind: 'rows', signal: 'logs', search: 'nowhere' }, reader(), { range });
  t.true(stretches.some(({ times, sql }) => times >= 1 && sql.includes('ORDER BY')));
  await t.throwsAsync(explain({ kind: 'rows', signal: 'traces' }, reader('free'), { range }), {
    instanceOf: QueryError,
  });
});

const examples = [
  ...readFileSync(new URL('../../docs/reference/queries.md', import.meta.url), 'utf8').matchAll(/```json\n(.*?)```/gs),
];
test('every example in the README returns a result', async (t) => {
  t.true(examples.length >= 4);
  for (const [, example = ''] of examples) {
    const { form } = await run(JSON.parse(example) as QueryRequest, reader(), { range });
    t.is(form, 'table', example);
  }
});

test('a cancelled query ends', async (t) => {
  const signal = AbortSignal.abort(new Error('gone'));
  await t.throwsAsync(run(countBy(), reader(), { range, signal }), { message: 'gone' });
});
