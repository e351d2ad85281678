/** Conditions on the values of groups: `having` of aggregates, metrics and formulas. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { QueryError } from '../../queries/errors.ts';
import { Query, type QueryRequest } from '../../queries/query.ts';
import type { QueryContext } from '../../queries/query-result.ts';
import { run } from '../../queries/run.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { describeQuery } from '../../subjects/questions/sentence.ts';
import { createReader, type MetricTables, nanoseconds, openMetricTables } from './metric-points.ts';
import { landIn, messageOf, text, tracesRequest } from './sink-tables.ts';

const second = 1e9;
const range = { from: nanoseconds(0), to: nanoseconds(3599) };
const stepMs = 60_000;

/** Seconds that requests of services take; those from 2 s on fail. */
const durations: Readonly<Record<string, readonly number[]>> = {
  cart: [1, 1, 1, 3],
  payment: [2, 4],
  search: [0.1, 0.1, 0.1, 0.1, 0.1],
};
const cpu: Readonly<Record<string, readonly number[]>> = { a: [0.7, 0.9], b: [0.5, 0.7], c: [0.95, 0.97] };

let tables: MetricTables;
let reader: TenantReader;
test.before(async () => {
  tables = await openMetricTables();
  const resourceSpans = Object.entries(durations).map(([service, seconds], serviceIndex) => ({
    resource: { attributes: [text('service.name', service)] },
    scopeSpans: [
      {
        spans: seconds.map((duration, index) => ({
          traceId: Buffer.alloc(16, serviceIndex + 1),
          spanId: Buffer.alloc(8, index + 1),
          name: 'request',
          startTimeUnixNano: String(nanoseconds(60 * index)),
          endTimeUnixNano: String(nanoseconds(60 * index + duration)),
          status: { code: duration >= 2 ? 2 : 1 },
        })),
      },
    ],
  }));
  await landIn(tables.columns)(
    [messageOf([tracesRequest({ resourceSpans })], { tenantId: 'having', signal: 'traces' })],
    { sink: 'traces' },
  );
  const series = Object.entries(cpu).map(([host, values], id) => ({
    id,
    metric: 'cpu',
    unit: '1',
    labels: { host },
    points: values.map((value, index) => ({ at: 60 * index, value })),
  }));
  await tables.put([{ tenant: 'having', series }]);
  reader = { ...createReader(tables.columns, 'having'), plan: defaultPlans['enterprise'] as Plan };
});
test.after.always(() => tables?.close());

const runQuery = (query: QueryRequest, context: Partial<QueryContext> = {}) =>
  run(query, reader, { range, ...context });

type RequestOf<Kind extends QueryRequest['kind']> = Extract<QueryRequest, { kind: Kind }>;
const ofSpans: RequestOf<'aggregate'> = {
  kind: 'aggregate',
  signal: 'traces',
  groupBy: ['service'],
  measures: [{ function: 'count' }],
};
const errorRate: RequestOf<'formula'> = {
  kind: 'formula',
  expression: '100 * errors / all',
  queries: { errors: { ...ofSpans, search: 'status:error' }, all: ofSpans },
};
const cpuByHost: RequestOf<'metric'> = {
  kind: 'metric',
  metric: 'cpu',
  overTime: 'avg',
  across: 'avg',
  groupBy: ['host'],
};

const conditions: readonly (readonly [title: string, query: QueryRequest, groups: readonly string[]])[] = [
  ['a count above a number', { ...ofSpans, having: { operator: 'above', value: 2 } }, ['search', 'cart']],
  ['a count of at least a number', { ...ofSpans, having: { operator: 'at-least', value: 4 } }, ['search', 'cart']],
  ['a count below a number', { ...ofSpans, having: { operator: 'below', value: 4 } }, ['payment']],
  ['a count of at most a number', { ...ofSpans, having: { operator: 'at-most', value: 4 } }, ['cart', 'payment']],
  [
    'a mean duration, in nanoseconds',
    {
      ...ofSpans,
      measures: [{ function: 'avg', field: 'duration' }],
      having: { operator: 'above', value: 1.4 * second },
    },
    ['payment', 'cart'],
  ],
  [
    'a rate per second of the range',
    { ...ofSpans, measures: [{ function: 'rate' }], having: { operator: 'above', value: 3 / 3600 } },
    ['search', 'cart'],
  ],
  [
    'another measure than the first',
    {
      ...ofSpans,
      measures: [
        { function: 'max', field: 'duration' },
        { function: 'count', as: 'requests' },
      ],
      having: { measure: 'requests', operator: 'above', value: 2 },
    },
    ['cart', 'search'],
  ],
  [
    'more groups than the limit, which then has others',
    { ...ofSpans, having: { operator: 'below', value: 5 }, limit: 1 },
    ['cart'],
  ],
  ['a metric', { ...cpuByHost, having: { operator: 'above', value: 0.7 } }, ['c', 'a']],
  [
    'a metric, with a limit in ascending order',
    { ...cpuByHost, having: { operator: 'at-least', value: 0.7 }, order: 'ascending', limit: 1 },
    ['a'],
  ],
  ['a formula', { ...errorRate, having: { operator: 'above', value: 20 } }, ['payment', 'cart']],
  ['a formula, with a limit', { ...errorRate, having: { operator: 'below', value: 50 }, limit: 5 }, ['cart']],
];
for (const [title, query, expected] of conditions) {
  test(`only groups that satisfy the condition are in the table: ${title}`, async (t) => {
    const { rows } = await runQuery(query);
    t.deepEqual(
      rows.map(([group]) => group),
      expected,
    );
  });
  test(`the same groups have series: ${title}`, async (t) => {
    const { series } = await runQuery(query, { stepMs });
    t.deepEqual([...new Set(series.flatMap(({ labels }) => Object.values(labels)))].toSorted(), expected.toSorted());
  });
}

test('a single value that does not satisfy the condition is no row', async (t) => {
  const query = { ...ofSpans, groupBy: [] };
  t.deepEqual((await runQuery({ ...query, having: { operator: 'above', value: 10 } })).rows, [[11]]);
  t.deepEqual((await runQuery({ ...query, having: { operator: 'above', value: 11 } })).rows, []);
});

test('groups without a value satisfy no condition', async (t) => {
  const { rows } = await runQuery({ ...errorRate, having: { operator: 'at-least', value: 0 } });
  t.false(rows.some(([service]) => service === 'search'));
});

test('a result without groups has the hint that none satisfies the condition', async (t) => {
  const { hint } = await runQuery({ ...ofSpans, having: { operator: 'above', value: 100 } });
  t.regex(hint ?? '', /no group has a value that satisfies/);
  const metricResult = await runQuery({ ...cpuByHost, having: { operator: 'above', value: 1 } });
  t.regex(metricResult.hint ?? '', /no group has a value that satisfies/);
});

test('a condition on an unknown measure or on a time is refused', async (t) => {
  const refuse = (query: QueryRequest) => t.throwsAsync(runQuery(query), { instanceOf: QueryError });
  const unknown = await refuse({ ...ofSpans, having: { measure: 'p95', operator: 'above', value: 1 } });
  t.is((unknown as QueryError).path, 'having.measure');
  const time = await refuse({
    ...ofSpans,
    measures: [{ function: 'max', field: 'timestamp' }],
    having: { operator: 'above', value: 1 },
  });
  t.is((time as QueryError).path, 'having.measure');
});

const sentences: readonly (readonly [query: QueryRequest, sentence: RegExp])[] = [
  [{ ...ofSpans, having: { operator: 'above', value: 2 } }, /^Number of spans, by service, only above 2, from/],
  [
    {
      ...ofSpans,
      measures: [{ function: 'avg', field: 'duration' }],
      having: { operator: 'below', value: 1.5 * second },
    },
    /^Average of duration of spans, by service, only below 1.5 s, from/,
  ],
  [
    {
      ...ofSpans,
      measures: [{ function: 'avg', field: 'duration', as: 'mean' }],
      having: { operator: 'above', value: 1.5 * second },
    },
    /, by service, only above 1.5 s, from/,
  ],
  [
    {
      ...ofSpans,
      measures: [{ function: 'max', field: 'duration' }, { function: 'count' }],
      having: { measure: 'count', operator: 'at-least', value: 5 },
    },
    /, by service, only with count at least 5, from/,
  ],
  [{ ...cpuByHost, having: { operator: 'at-most', value: 0.8 } }, /, by host, only at most 0.8, from/],
  [{ ...errorRate, having: { operator: 'above', value: 5 } }, /^100 \* errors .*, only above 5, from/],
];
for (const [query, sentence] of sentences)
  test(`the description of a query has its condition: ${sentence.source}`, (t) => {
    t.regex(describeQuery({ query: Query.parse(query), range, stepMs: undefined, timeZone: 'UTC' }), sentence);
  });
