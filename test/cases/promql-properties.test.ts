/**
 * Properties of every query: a range query equals its instant queries, and order and splitting of series have no
 * effect.
 */

import test from 'ava';
import fc from 'fast-check';
import { evaluate, listSelections, type ParsedQuery, parse } from '../../queries/promql/index.ts';
import type { Selection, Series } from '../../queries/promql/series.ts';
import { compileTest } from '../../queries/promql/syntax/matchers.ts';

const stale = new Float64Array(new BigUint64Array([0x7ff0_0000_0000_0002n]).buffer);

const value = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -50, max: 1_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -0, 1e300) },
  { weight: 1, arbitrary: fc.constant('stale' as const) },
);

const seriesOf = (at: number, values: readonly (number | 'stale' | undefined)[]): Series => {
  const points = values.flatMap((each, step) =>
    each === undefined ? [] : [[step * 15_000 + at * 100, each] as const],
  );
  const column = new Float64Array(points.length);
  for (const [place, [, each]] of points.entries())
    if (each === 'stale') new BigUint64Array(column.buffer)[place] = new BigUint64Array(stale.buffer)[0] as bigint;
    else column[place] = each;
  const labels = { __name__: at % 2 === 0 ? 'a_total' : 'b', i: String(at), job: `j${at % 3}` };
  return { labels, times: Float64Array.from(points, ([time]) => time), values: column };
};

const data = fc
  .array(fc.array(fc.option(value, { nil: undefined, freq: 6 }), { minLength: 10, maxLength: 60 }), {
    minLength: 1,
    maxLength: 6,
  })
  .map((columns) => columns.map((values, at) => seriesOf(at, values)));

const queries = [
  'a_total',
  'a_total offset 30s',
  'rate(a_total[1m])',
  'increase({__name__=~".+"}[2m])',
  'irate(a_total[1m]) > 0',
  'sum by (job) (rate(a_total[1m]))',
  'avg(b) + on () group_right () a_total',
  'topk(2, a_total)',
  'quantile(0.3, b)',
  'max_over_time(a_total[1m:15s])',
  'a_total and ignoring (i) b',
  'stddev(a_total) or vector(1)',
  'count_values("v", a_total)',
  'absent(b)',
  'a_total @ 120',
  'predict_linear(a_total[2m], 60)',
  'changes(b[1m]) == bool resets(b[1m])',
  'time() - timestamp(a_total)',
] as const;

const reader = (series: readonly Series[], selections: readonly Selection[]) => (number: number) => {
  const tests = (selections[number] as Selection).matchers.map(
    ({ name, ...rest }) => [name, compileTest({ name, ...rest })] as const,
  );
  return series.filter(({ labels }) => tests.every(([name, matches]) => matches(labels[name] ?? '')));
};

type Points = Readonly<Record<string, number>>;

const sorted = (points: readonly (readonly [string, number])[]): Points =>
  Object.fromEntries([...points].sort(([left], [right]) => (left < right ? -1 : 1)));

const instant = (query: ParsedQuery, series: readonly Series[], timeMs: number): Points => {
  const window = { startMs: timeMs, endMs: timeMs, stepMs: 0 };
  const { value: answer } = evaluate(query, window, reader(series, listSelections(query, window)));
  if (answer.type !== 'vector') throw new Error(`no vector: ${answer.type}`);
  return sorted(answer.elements.map(({ labels, value: each }) => [JSON.stringify(labels), each as number] as const));
};

const window = { startMs: 60_000, endMs: 600_000, stepMs: 45_000 };

const range = (query: ParsedQuery, series: readonly Series[]): Map<number, Points> => {
  const { value: answer } = evaluate(query, window, reader(series, listSelections(query, window)));
  if (answer.type !== 'matrix') throw new Error(`no matrix: ${answer.type}`);
  const steps = new Map<number, (readonly [string, number])[]>();
  for (const each of answer.series)
    for (const [at, time] of each.times.entries())
      steps.set(time, [...(steps.get(time) ?? []), [JSON.stringify(each.labels), each.values[at] as number]]);
  return new Map([...steps].map(([time, points]) => [time, sorted(points)]));
};

test('a range query gives at each step the result of an instant query', (t) => {
  fc.assert(
    fc.property(data, fc.constantFrom(...queries), (series, text) => {
      const query = parse(text);
      const steps = range(query, series);
      for (let time = window.startMs; time <= window.endMs; time += window.stepMs)
        t.deepEqual(steps.get(time) ?? {}, instant(query, series, time), `${text} at ${time}`);
    }),
    { numRuns: 150 },
  );
});

test('a selection contains every sample that an expression reads', (t) => {
  fc.assert(
    fc.property(data, fc.constantFrom(...queries), (series, text) => {
      const query = parse(text);
      // The lookback is as short as the gaps, and the data starts long before, so that a selection that starts too late
      // is noticed.
      const late = { startMs: 400_000, endMs: 600_000, stepMs: 35_000, lookbackMs: 40_000 };
      const selections = listSelections(query, late);
      const cut = (number: number) => {
        const { fromMs, toMs } = selections[number] as Selection;
        return reader(
          series,
          selections,
        )(number).map(({ labels, times, values }) => {
          const from = times.findIndex((time) => time > fromMs);
          const behind = times.findIndex((time) => time > toMs);
          const places = [from < 0 ? times.length : from, behind < 0 ? times.length : behind] as const;
          return { labels, times: times.subarray(...places), values: values.subarray(...places) };
        });
      };
      t.deepEqual(evaluate(query, late, cut).value, evaluate(query, late, reader(series, selections)).value, text);
    }),
    { numRuns: 150 },
  );
});

test('a query that would load too many samples is rejected with the error message of Prometheus', (t) => {
  const series = [seriesOf(0, new Array(40).fill(1))];
  const query = parse('a_total');
  const read = reader(series, listSelections(query, window));
  t.throws(() => evaluate(query, window, read, { samples: 5 }), {
    message: 'query processing would load too many samples into memory in query execution',
  });
  t.notThrows(() => evaluate(query, window, read, { samples: 13 }));
});

test('a query whose columns would take too much memory is rejected before they are allocated', (t) => {
  const sparse = Array.from({ length: 60 }, (_, at) => seriesOf(at * 2, [1]));
  const steps = { startMs: 0, endMs: 3_600_000, stepMs: 1_000 };
  const evaluateWith = (text: string, bytes: number) => {
    const query = parse(text);
    return evaluate(query, steps, reader(sparse, listSelections(query, steps)), { samples: 1e9, bytes });
  };
  const refused = { message: 'query processing would load too many samples into memory in query execution' };
  t.throws(() => evaluateWith('topk(1, a_total)', 1e6), refused);
  t.notThrows(() => evaluateWith('sum(a_total)', 1e6), 'a sum holds one series at a time');
  t.throws(() => evaluateWith('max_over_time(a_total[100y:1ms])', 400e6), refused);
  t.throws(() => evaluateWith('max_over_time(vector(1)[100y:1ms])', 400e6), refused);
});

test('samples are counted as in Prometheus', (t) => {
  const series = [seriesOf(0, new Array(40).fill(1)), seriesOf(2, new Array(40).fill(2))];
  const query = parse('rate(a_total[1m])');
  const steps = { startMs: 120_000, endMs: 240_000, stepMs: 60_000 };
  const { samples } = evaluate(query, steps, reader(series, listSelections(query, steps)));
  t.is(samples.total, 24);
  t.deepEqual([...samples.perStep], [8, 8, 8]);
});

const places: readonly (readonly [query: string, place: string])[] = [
  ['rate(fill[5m])', '1:6'],
  // Prometheus creates a selector without a position for the result of a subquery.
  ['rate(fill[5m:15s])', '1:1'],
  ['1 + increase(fill[5m])', '1:14'],
];
for (const [text, place] of places)
  test(`the annotation for ${text} has the position ${place}`, (t) => {
    const gauge: Series = {
      labels: { __name__: 'fill' },
      times: Float64Array.of(0, 15_000, 30_000),
      values: Float64Array.of(1, 2, 3),
    };
    const at = { startMs: 30_000, endMs: 30_000, stepMs: 0 };
    t.deepEqual(evaluate(parse(text), at, () => [gauge]).infos, [
      `PromQL info: metric might not be a counter, name does not end in _total/_sum/_count/_bucket: "fill" (${place})`,
    ]);
  });
