/** Metric queries compared with manual calculations, and with results of Prometheus. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import type { ResultData } from '../../queries/query-result.ts';
import { AlertRuleFields } from '../../subjects/alerts/rule.ts';
import { queryRule } from '../../subjects/alerts/run-query.ts';
import {
  createReader,
  epoch,
  type MetricTables,
  openMetricTables,
  type TestHistogram,
  type TestPoint,
  type TestSeries,
} from './metric-points.ts';
import { prometheusCases, prometheusSeries } from './metric-prometheus.ts';

const every = (seconds: number, values: readonly number[], start?: number): TestPoint[] =>
  values.map((value, index) => ({ at: index * seconds, value, ...(start === undefined ? {} : { start }) }));
const counter = { kind: 'sum', temporality: 2, monotonic: true } as const;
const histograms = (own: readonly TestHistogram[], start?: number): TestPoint[] =>
  own.map((histogram, index) => ({ at: index * 15, histogram, ...(start === undefined ? {} : { start }) }));
const big = 9_007_199_254_740_993n;

const bounds = [1, 2, 4];
const explicit = (counts: readonly number[], more: Partial<TestHistogram> = {}): TestHistogram => ({
  bounds,
  counts,
  count: counts.reduce((sum, count) => sum + count, 0),
  sum: 0,
  ...more,
});

/** Points every 15 seconds from 0 on by default. */
const series: readonly TestSeries[] = [
  {
    id: 1,
    metric: 'requests',
    ...counter,
    unit: '{request}',
    labels: { code: '200' },
    points: every(15, [0, 30, 60, 90, 120, 10, 40, 70], -100),
  },
  {
    id: 2,
    metric: 'requests',
    ...counter,
    unit: '{request}',
    labels: { code: '500' },
    points: every(15, [5, 5, 5, 6, 6, 6, 6, 6], -100),
  },
  {
    id: 3,
    metric: 'born',
    ...counter,
    points: every(
      15,
      [7, 9, 9, 9].map((value) => value),
      0,
    ).map((point) => ({ ...point, at: point.at + 30, start: 20 })),
  },
  {
    id: 4,
    metric: 'restarted',
    ...counter,
    points: [
      { at: 0, value: 100, start: -50 },
      { at: 15, value: 110, start: -50 },
      { at: 30, value: 150, start: 20 },
      { at: 45, value: 160, start: 20 },
    ],
  },
  {
    id: 5,
    metric: 'unknown.start',
    ...counter,
    points: [
      { at: 10, value: 100, start: 10 },
      { at: 20, value: 130, start: 10 },
    ],
  },
  {
    id: 6,
    metric: 'deltas',
    ...counter,
    temporality: 1,
    points: [
      { at: 15, value: 4, start: 0 },
      { at: 30, value: 6, start: 15 },
      { at: 30, value: 6, start: 15 },
      { at: 45, value: 1, start: 30 },
    ],
  },
  {
    id: 7,
    metric: 'rare',
    ...counter,
    points: [
      { at: 0, value: 0, start: -60 },
      { at: 60, value: 120, start: -60 },
    ],
  },
  {
    id: 8,
    metric: 'huge',
    ...counter,
    points: [
      { at: 0, integer: big, start: -60 },
      { at: 15, integer: big + 1n, start: -60 },
      { at: 30, integer: big + 4n, start: -60 },
    ],
  },
  {
    id: 9,
    metric: 'level',
    unit: 'By',
    labels: { pod: 'a' },
    points: [
      { at: 0, value: 10 },
      { at: 20, value: 20 },
      { at: 40, isStale: true },
    ],
  },
  {
    id: 10,
    metric: 'level',
    unit: 'By',
    labels: { pod: 'b' },
    points: [
      { at: 0, value: 1 },
      { at: 50, value: Number.NaN },
    ],
  },
  { id: 11, metric: 'level', unit: 'By', labels: { pod: 'c' }, points: [{ at: 0, value: Number.POSITIVE_INFINITY }] },
  { id: 12, metric: 'falls', kind: 'sum', temporality: 2, points: every(15, [1, 2]) },
  {
    id: 13,
    metric: 'latency.otlp',
    kind: 'histogram',
    temporality: 2,
    unit: 'ms',
    labels: { pod: 'a' },
    points: histograms([explicit([0, 0, 0, 0]), explicit([10, 10, 0, 0], { sum: 25 })], -5),
  },
  {
    id: 14,
    metric: 'latency.otlp',
    kind: 'histogram',
    temporality: 2,
    unit: 'ms',
    labels: { pod: 'b' },
    points: histograms([explicit([0, 0, 0, 0]), explicit([0, 0, 20, 0], { sum: 60 })], -5),
  },
  {
    id: 15,
    metric: 'closed',
    kind: 'histogram',
    temporality: 1,
    unit: 'ms',
    points: histograms([explicit([2, 0, 0, 2], { min: 0.5, max: 8 })], -5),
  },
  {
    id: 16,
    metric: 'bounds',
    kind: 'histogram',
    temporality: 1,
    labels: { pod: 'a' },
    points: histograms([{ count: 4, bounds: [10], counts: [4, 0] }], -5),
  },
  {
    id: 17,
    metric: 'bounds',
    kind: 'histogram',
    temporality: 1,
    labels: { pod: 'b' },
    points: histograms([{ count: 4, bounds: [5, 10], counts: [0, 4, 0] }], -5),
  },
  {
    id: 18,
    metric: 'scales',
    kind: 'exponential_histogram',
    temporality: 1,
    labels: { pod: 'a' },
    points: histograms([{ count: 4, scale: 1, positive: [0, [2, 2]] }], -5),
  },
  {
    id: 19,
    metric: 'scales',
    kind: 'exponential_histogram',
    temporality: 1,
    labels: { pod: 'b' },
    points: histograms([{ count: 4, scale: 0, positive: [0, [4]] }], -5),
  },
  { id: 20, metric: 'mixed', kind: 'gauge', points: every(15, [1]) },
  { id: 21, metric: 'mixed', kind: 'histogram', temporality: 2, points: [] },
  { id: 22, metric: 'units', unit: 's', labels: { pod: 'a' }, points: every(15, [1]) },
  { id: 23, metric: 'units', unit: 'ms', labels: { pod: 'b' }, points: every(15, [1000]) },
  { id: 24, metric: 'quiet', ...counter, points: [] },
  { id: 25, metric: 'summarized', kind: 'summary', points: [] },
  {
    id: 26,
    metric: 'partly.idle',
    kind: 'histogram',
    temporality: 2,
    labels: { pod: 'busy' },
    points: histograms([explicit([0, 0, 0, 0]), explicit([0, 10, 0, 0], { sum: 20 })], -5),
  },
  {
    id: 27,
    metric: 'partly.idle',
    kind: 'histogram',
    temporality: 2,
    labels: { pod: 'idle' },
    points: histograms([explicit([0, 0, 0, 0]), explicit([0, 0, 0, 0])], -5),
  },
];

let tables: MetricTables;
test.before(async () => {
  tables = await openMetricTables();
  await tables.put([
    { tenant: 'acme', series },
    { tenant: 'prometheus', series: prometheusSeries },
    {
      tenant: 'other',
      series: [
        { id: 1, metric: 'requests', ...counter, labels: { code: 'canary' }, points: every(15, [1, 2, 3, 4, 5]) },
      ],
    },
  ]);
  await tables.columns.execute(
    "INSERT INTO resources (tenant_id, resource_id, service, attributes, attribute_types, first_seen, last_seen) VALUES ('acme', 7, 'cart', {'host.name': 'one'}, 's', now(), now())",
  );
  await tables.columns.execute(
    "INSERT INTO summaries (tenant_id, project_id, received_at, metric, series_id, timestamp, count, sum, quantiles, quantile_values) VALUES ('acme', 'shop', '2026-03-01 10:00:30', 'summarized', 25, '2026-03-01 10:00:30', 9, 18, [0.5, 0.9], [2, 3.5])",
  );
});
test.after.always(() => tables?.close());

type QueryInput = Parameters<MetricTables['query']>[1];
const runQuery = (
  query: QueryInput,
  range: readonly [number, number] = [0, 59.999999999],
  step?: number,
  limits = {},
) => tables.query('acme', query, range, step, limits);
const values = ({ series: found }: ResultData): unknown => found.map(({ points }) => points.map(([, value]) => value));
/** The values of a table by its first columns. */
const cells = ({ rows }: ResultData): unknown => rows;

const bySteps: Record<
  string,
  readonly [QueryInput, step: number, expected: unknown, range?: readonly [number, number]]
> = {
  'increases count from the last point before a step, and from 0 after a reset': [
    { metric: 'requests', overTime: 'increase', search: 'code:200' },
    60,
    // 0 → 90; 90 → 120, a reset to 10, → 70.
    [[90, 30 + 10 + 60]],
    [0, 119.999999999],
  ],
  'a rate is the increase by second': [
    { metric: 'requests', overTime: 'rate', search: 'code:200' },
    60,
    [[1.5, 1.66666666667]],
    [0, 119.999999999],
  ],
  'a range that starts later counts from the preceding point': [
    { metric: 'requests', overTime: 'increase', search: 'code:200' },
    30,
    [[60, 40]],
    [30, 89],
  ],
  'a counter that began in the range counts from 0': [
    { metric: 'born', overTime: 'increase' },
    30,
    [[null, 9]],
    [0, 59],
  ],
  'a counter that began before the range does not': [
    { metric: 'born', overTime: 'increase' },
    30,
    [[null, 2]],
    [25, 59],
  ],
  'another start is a reset, though the value is larger': [
    { metric: 'restarted', overTime: 'increase' },
    60,
    [[10 + 150 + 10]],
  ],
  'the increase before a start time equal to the point is unknown': [
    { metric: 'unknown.start', overTime: 'increase' },
    60,
    [[30]],
    [0, 59],
  ],
  'a duplicate delta counts once': [{ metric: 'deltas', overTime: 'increase' }, 60, [[11]], [0, 59]],
  'what grew between two points is spread over shorter steps': [
    { metric: 'rare', overTime: 'increase' },
    30,
    [[60, 60, 0]],
    [0, 89],
  ],
  'integers beyond doubles are subtracted as integers': [{ metric: 'huge', overTime: 'increase' }, 60, [[4]]],
  'integers beyond doubles preserve every digit': [{ metric: 'huge', overTime: 'last' }, 60, [[String(big + 4n)]]],
  'the least integer beyond doubles too': [{ metric: 'huge', overTime: 'min' }, 60, [[String(big)]]],
  'a value is valid for five minutes, or until a staleness marker': [
    { metric: 'level', overTime: 'last', across: 'max', groupBy: ['pod'], search: 'pod:a' },
    20,
    [[10, 20]],
    [0, 39.999999999],
  ],
  'a staleness marker ends a series': [
    { metric: 'level', overTime: 'last', search: 'pod:a' },
    20,
    [[10, 20, null]],
    [0, 59],
  ],
  'infinity and NaN are preserved': [
    { metric: 'level', overTime: 'last', search: 'NOT pod:a', groupBy: ['pod'] },
    60,
    [['Infinity'], ['NaN']],
  ],
  'infinity added to a number is infinity': [
    { metric: 'level', overTime: 'sum', search: 'pod:(a OR c)' },
    60,
    [['Infinity']],
  ],
  'a series without points is not in the result': [{ metric: 'quiet', overTime: 'rate' }, 60, []],
  'nor is a metric that does not exist': [{ metric: 'nothing', overTime: 'last' }, 60, []],
  'a step before the first point is null': [{ metric: 'rare', overTime: 'count' }, 30, [[null, 1, null, 1]], [-30, 60]],
};
for (const [title, [query, step, expected, range]] of Object.entries(bySteps))
  test(title, async (t) => t.deepEqual(values(await runQuery(query, range, step)), expected));

const inTables: Record<string, readonly [QueryInput, rows: unknown, unit?: string]> = {
  'a table has one value for the range, the largest group first': [
    { metric: 'requests', overTime: 'increase', groupBy: ['code'] },
    [
      ['200', 90],
      ['500', 1],
    ],
    '{request}',
  ],
  'in ascending order the smallest group is first, and a limit preserves it': [
    { metric: 'requests', overTime: 'increase', groupBy: ['code'], order: 'ascending', limit: 1 },
    [['500', 1]],
  ],
  'series of a group are summed': [{ metric: 'requests', overTime: 'rate' }, [[91 / 60]], '{request}/s'],
  'groups can use resource attributes': [
    { metric: 'requests', overTime: 'increase', groupBy: ['host.name'] },
    [['one', 91]],
  ],
  'and by fields': [{ metric: 'requests', overTime: 'increase', groupBy: ['service', 'kind'] }, [['cart', 'sum', 91]]],
  'a missing attribute is empty': [{ metric: 'requests', overTime: 'increase', groupBy: ['nowhere'] }, [['', 91]]],
  'a search is about labels and the resource': [
    { metric: 'requests', overTime: 'increase', search: 'host.name:one code:>=500' },
    [[1]],
  ],
  'histograms of a group are summed before the quantile': [
    // 10 to 1, 10 to 2, 20 to 4: the rank 30 of 40 is in the middle of the last bucket.
    { metric: 'latency.otlp', overTime: 'quantile', quantile: 0.75 },
    [[3]],
    'ms',
  ],
  'or each has a separate quantile': [
    { metric: 'latency.otlp', overTime: 'quantile', quantile: 0.5, across: 'max' },
    [[3]],
  ],
  'the mean of a histogram is that of its observations': [
    { metric: 'latency.otlp', overTime: 'avg' },
    [[85 / 40]],
    'ms',
  ],
  'the mean by series is put together too': [
    { metric: 'latency.otlp', overTime: 'avg', across: 'avg' },
    [[(25 / 20 + 3) / 2]],
  ],
  'a series without observations has no mean': [{ metric: 'partly.idle', overTime: 'avg', across: 'avg' }, [[2]]],
  'a histogram without observations has no mean': [{ metric: 'partly.idle', overTime: 'avg', search: 'pod:idle' }, []],
  'observations are counted': [{ metric: 'latency.otlp', overTime: 'count' }, [[40]], '{observation}'],
  'and so is their rate': [{ metric: 'latency.otlp', overTime: 'rate' }, [[40 / 60]], '{observation}/s'],
  'and their sum': [{ metric: 'latency.otlp', overTime: 'sum' }, [[85]], 'ms'],
  'the minimum of a histogram is the one that the sender reports': [{ metric: 'closed', overTime: 'min' }, [[0.5]]],
  'and the most': [{ metric: 'closed', overTime: 'max' }, [[8]]],
  'the last bucket ends at the maximum': [{ metric: 'closed', overTime: 'quantile', quantile: 0.75 }, [[6]]],
  'the first bucket starts at the minimum': [{ metric: 'closed', overTime: 'quantile', quantile: 0.25 }, [[0.75]]],
  'different bounds are cut at the bounds of all': [
    // 4 over 0…10 and 4 over 5…10: 2 below 5, 6 above.
    { metric: 'bounds', overTime: 'quantile', quantile: 0.25 },
    [[5]],
  ],
  'different scales are added up in the coarser one': [
    { metric: 'scales', overTime: 'quantile', quantile: 0.5 },
    [[Math.SQRT2]],
  ],
  'a summary returns the quantiles that its sender computed': [
    { metric: 'summarized', overTime: 'quantile', quantile: 0.9, across: 'none' },
    [['one', 'cart', 3.5]],
  ],
  'series are counted': [{ metric: 'requests', overTime: 'rate', across: 'count' }, [[2]], '{series}'],
  'every series by itself has all its labels': [
    { metric: 'requests', overTime: 'increase', across: 'none', search: 'code:500' },
    [['500', 'one', 'cart', 1]],
  ],
};
for (const [title, [query, expected, unit]] of Object.entries(inTables))
  test(title, async (t) => {
    const response = await runQuery(query);
    t.deepEqual(
      (cells(response) as unknown[][]).map((row) =>
        row.map((cell) => (typeof cell === 'number' ? Number(cell.toPrecision(9)) : cell)),
      ),
      (expected as unknown[][]).map((row) =>
        row.map((cell) => (typeof cell === 'number' ? Number(cell.toPrecision(9)) : cell)),
      ),
    );
    if (unit !== undefined) t.is(response.columns.at(-1)?.unit, unit);
  });

const refused: Record<string, readonly [QueryInput, path: string, message: RegExp]> = {
  'the rate of a gauge': [
    { metric: 'level', overTime: 'rate' },
    'overTime',
    /level is a gauge, not a counter: use avg/,
  ],
  'the increase of a non-monotonic sum': [
    { metric: 'falls', overTime: 'increase' },
    'overTime',
    /falls is a non-monotonic sum/,
  ],
  'the last value of a histogram': [
    { metric: 'latency.otlp', overTime: 'last' },
    'overTime',
    /is a histogram, which is not a single value/,
  ],
  'several kinds': [
    { metric: 'mixed', overTime: 'avg' },
    'metric',
    /a gauge in some series and a histogram in others: name one in the search, as in kind:gauge/,
  ],
  'several units': [{ metric: 'units', overTime: 'avg' }, 'metric', /several units \(s, ms\)/],
  'quantiles of several summaries': [
    { metric: 'summarized', overTime: 'quantile', quantile: 0.9 },
    'across',
    /must be none: summarized is a summary/,
  ],
  'a summary quantile that the sender did not compute': [
    { metric: 'summarized', overTime: 'quantile', quantile: 0.99, across: 'none' },
    'quantile',
    /^summarized is a summary, for which senders compute 0.5, 0.9: use one of these$/,
  ],
  'a quantile without its number': [{ metric: 'level', overTime: 'quantile' }, 'quantile', /is required/],
  'groups of every series by itself': [
    { metric: 'level', across: 'none', groupBy: ['pod'] },
    'groupBy',
    /must be empty/,
  ],
  'a search that cannot be read': [{ metric: 'level', search: 'pod:(' }, 'search', /column/],
};
for (const [title, [query, path, message]] of Object.entries(refused))
  test(`rejected: ${title}`, async (t) => {
    const error = await t.throwsAsync(runQuery(query), { message });
    t.like(error, { code: 'VALIDATION_FAILED', path });
  });

test('a unit in the search distinguishes units', async (t) => {
  const response = await runQuery({ metric: 'units', overTime: 'avg', search: 'unit:ms' });
  t.deepEqual([response.rows, response.columns.at(-1)?.unit], [[[1000]], 'ms']);
});

test('a response names the limit that truncated each part', async (t) => {
  const groups = await runQuery({ metric: 'requests', overTime: 'increase', groupBy: ['code'], limit: 1 });
  t.deepEqual(groups.rows, [['200', 90]]);
  t.like(groups.partial, [{ code: 'groups', message: 'there are 2 groups: these are the 1 with the largest values' }]);
  const few = await runQuery({ metric: 'requests', overTime: 'increase' }, undefined, undefined, { series: 1 });
  t.deepEqual(
    few.partial.map(({ code }) => code),
    ['rows'],
  );
  const late = await runQuery({ metric: 'requests', overTime: 'increase' }, undefined, undefined, { milliseconds: -1 });
  t.deepEqual([late.rows, late.partial.map(({ code }) => code)], [[], ['time']]);
  await t.throwsAsync(runQuery({ metric: 'requests', overTime: 'increase' }, undefined, 15, { cells: 3 }), {
    message: /1 groups in 4 steps/,
  });
});

for (const [query, promql, expected] of prometheusCases)
  test(`as Prometheus: ${promql}`, async (t) => {
    const response = await tables.query('prometheus', query, [60, 119.999999999], 60);
    const value = Number(response.series[0]?.points[0]?.[1]);
    t.true(Math.abs(value - expected) <= 1e-9 * Math.max(1, Math.abs(expected)), `${value}, expected ${expected}`);
  });

test('another organization has its own metrics', async (t) => {
  t.false(JSON.stringify(await runQuery({ metric: 'requests', across: 'none' })).includes('canary'));
  const other = await tables.query('other', { metric: 'requests', overTime: 'increase', groupBy: ['code'] }, [0, 59]);
  t.deepEqual(other.rows, [['canary', 3]]);
});

test('the newest value of a metric respects the window of an alert rule, not the staleness period', async (t) => {
  const ruleOf = (window: string) =>
    ({
      ...AlertRuleFields.parse({
        name: 'level',
        condition: {
          kind: 'threshold',
          query: { kind: 'metric', metric: 'requests', overTime: 'last', groupBy: ['code'] },
          window,
          thresholds: [{ severity: 'warning', operator: 'above', value: 0 }],
        },
      }),
      id: 'r',
      version: 1,
    }) as const;
  // The last point is at 105 s.
  const groupsAt = async (window: string, seconds: number): Promise<number | string> => {
    const response = await queryRule(ruleOf(window), createReader(tables.columns, 'acme'), {
      nowMs: epoch + seconds * 1000,
    });
    return response.kind === 'groups' ? response.groups.length : JSON.stringify(response);
  };
  t.is(await groupsAt('20s', 120), 2);
  t.is(await groupsAt('20s', 205), 0);
  t.is(await groupsAt('5m', 205), 2);
  t.is(await groupsAt('5m', 500), 0);
});
