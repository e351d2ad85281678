/** Metric queries have the results of a naive evaluator, over random series. */
import '../../subjects/query-kinds.ts';
import test, { type ExecutionContext } from 'ava';
import type { ResultData } from '../../queries/query-result.ts';
import { selectPart } from '../parts.ts';
import { epoch, type MetricTables, openMetricTables, type TestPoint, type TestSeries } from './metric-points.ts';
import { naiveAcross, naiveBuckets, naiveNumber, naiveQuantile, type Window, windowsIn } from './naive-metrics.ts';
import { type Random, seeded } from './random.ts';

/** Each run executes a random half of them. */
const rounds = 8;
const seriesInRound = 6;

interface Shape {
  readonly temporality: 1 | 2;
  /** The values of a point, derived from the previous point. */
  next(random: Random, before: TestPoint | undefined, isReset: boolean): Partial<TestPoint>;
}

/** Points with jitter, gaps, resets, staleness markers and start times, some of which are unknown. */
const pointsOf = (random: Random, shape: Shape): TestPoint[] => {
  const interval = [5, 15, 60][random(3)] ?? 15;
  const knowsStart = random(2) === 0;
  const points: TestPoint[] = [];
  let at = 300 + random(900);
  let start = at - random(20);
  let before: TestPoint | undefined;
  while (at < 2400) {
    const isReset = random(12) === 0;
    if (isReset) start = at - random(3);
    const known = startOf(random, shape, knowsStart ? start : undefined, before);
    const own = { at, ...known, ...(random(25) === 0 ? { isStale: true } : shape.next(random, before, isReset)) };
    points.push(own);
    if (own.isStale !== true) before = own;
    at += interval + random(3) + (random(15) === 0 ? 100 + random(700) : 0) + random(1000) / 1000;
  }
  return points;
};

/** Deltas mostly start at the end of the previous one. */
const startOf = (
  random: Random,
  { temporality }: Shape,
  start: number | undefined,
  before: TestPoint | undefined,
): Pick<TestPoint, 'start'> => {
  if (temporality === 1 && before !== undefined && random(4) > 0) return { start: before.at };
  return start === undefined || start <= 0 ? {} : { start };
};

const counter: Shape = {
  temporality: 2,
  next: (random, before, isReset) => ({ value: (isReset ? 0 : (before?.value ?? 0)) + random(20) }),
};
const delta: Shape = { temporality: 1, next: (random) => ({ value: random(20) }) };
const special = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
const gauge: Shape = {
  temporality: 2,
  next: (random) => ({ value: random(30) === 0 ? (special[random(3)] ?? 0) : (random(2000) - 1000) / 8 }),
};

const grownBy = (random: Random, before: readonly number[] | undefined, length: number): number[] =>
  Array.from({ length }, (_, index) => (before?.[index] ?? 0) + random(4));
const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

const explicit = (bounds: readonly number[], temporality: 1 | 2): Shape => ({
  temporality,
  next(random, before, isReset) {
    const counts = grownBy(
      random,
      isReset || temporality === 1 ? undefined : before?.histogram?.counts,
      bounds.length + 1,
    );
    return { histogram: { count: total(counts), sum: 1, bounds, counts } };
  },
});

/** The scale decreases at times, as in SDKs after an outlier. */
const exponential = (temporality: 1 | 2): Shape => ({
  temporality,
  next(random, before, isReset) {
    const old = before?.histogram;
    if (isReset || temporality === 1 || old === undefined) {
      const counts = grownBy(random, undefined, 1 + random(6));
      const zeroCount = random(3);
      return {
        histogram: { count: total(counts) + zeroCount, scale: random(3), zeroCount, positive: [random(6) - 3, counts] },
      };
    }
    const { scale = 0, zeroCount = 0, positive: [offset, counts] = [0, []] } = old;
    const lower = random(8) === 0 ? 1 : 0;
    const merged = new Map<number, number>();
    for (const [index, count] of counts.entries()) {
      const at = Math.floor((offset + index) / 2 ** lower);
      merged.set(at, (merged.get(at) ?? 0) + count);
    }
    const first = Math.min(...merged.keys()) - random(2);
    const last = Math.max(...merged.keys()) + random(2);
    const grown = Array.from({ length: last - first + 1 }, (_, index) => (merged.get(first + index) ?? 0) + random(3));
    const zeros = zeroCount + random(2);
    return {
      histogram: { count: total(grown) + zeros, scale: scale - lower, zeroCount: zeros, positive: [first, grown] },
    };
  },
});

const numberOf = (value: number | string | null | undefined): number | undefined =>
  value === null || value === undefined ? undefined : Number(value);

const isClose = (one: number | undefined, other: number | undefined): boolean => {
  if (one === undefined || other === undefined) return one === other;
  if (Number.isNaN(one) || Number.isNaN(other) || !Number.isFinite(one)) return Object.is(one, other);
  return Math.abs(one - other) <= 1e-6 * Math.max(1, Math.abs(one), Math.abs(other));
};

/** Values of the result by group (the label `g`); a table is a single window. */
const byGroup = (response: ResultData): Map<string, (number | undefined)[]> =>
  response.form === 'series'
    ? new Map(
        response.series.map(({ labels, points }) => [labels['g'] ?? '', points.map(([, value]) => numberOf(value))]),
      )
    : new Map(response.rows.map((row) => [String(row[0]), [numberOf(row[1] as number | string | null)]]));

interface Question {
  readonly metric: string;
  readonly overTime: 'last' | 'avg' | 'min' | 'max' | 'sum' | 'count' | 'rate' | 'increase' | 'quantile';
  readonly across: 'sum' | 'avg' | 'min' | 'max' | 'count';
  readonly quantile: number;
  readonly from: number;
  readonly to: number;
  readonly step: number | undefined;
}

const agrees = async (
  t: ExecutionContext,
  tenant: string,
  series: readonly TestSeries[],
  question: Question,
  expected: (members: readonly TestSeries[], window: Window, step: number) => number | undefined,
): Promise<void> => {
  const { from, to, step, ...query } = question;
  const response = await tables.query(tenant, { ...query, groupBy: ['g'] }, [from, to], step);
  const found = byGroup(response);
  const windows = windowsIn(from, to, step);
  for (const group of new Set(series.map(({ labels }) => labels?.['g'] ?? ''))) {
    const members = series.filter(({ labels }) => labels?.['g'] === group);
    const values = windows.map((window) => expected(members, window, step ?? to - from));
    const own = found.get(group) ?? values.map(() => undefined);
    for (const [index, value] of values.entries())
      if (!isClose(value, own[index])) {
        t.fail(
          `${JSON.stringify(question)} group ${group} window ${index} (${windows[index]?.start}): ${own[index]}, expected ${value}`,
        );
        return;
      }
  }
  t.pass();
};

const rangeOf = (random: Random): Pick<Question, 'from' | 'to' | 'step'> => {
  const from = 200 + random(900);
  return { from, to: from + 60 + random(1500), step: [undefined, 8, 30, 60, 300, 600][random(6)] };
};

const seriesOf = (random: Random, metric: string, kind: string, shapes: readonly Shape[]): TestSeries[] =>
  Array.from({ length: seriesInRound }, (_, index) => {
    const shape = shapes[random(shapes.length)] as Shape;
    return {
      id: index + 1,
      metric,
      kind,
      temporality: shape.temporality,
      monotonic: true,
      labels: { g: `g${random(2)}`, instance: String(index) },
      points: pointsOf(random, shape),
    };
  });

const acrossAll = ['sum', 'avg', 'min', 'max', 'count'] as const;

/** Series of a separate tenant, and their queries. */
interface Case {
  readonly title: string;
  readonly tenant: string;
  readonly series: readonly TestSeries[];
  check(t: ExecutionContext): Promise<void>;
}

const numbersCase = (
  title: string,
  { round, kind, shapes }: { round: number; kind: string; shapes: readonly Shape[] },
  functions: readonly Question['overTime'][],
): Case => {
  const random = seeded(round * 31 + functions.length);
  const tenant = `${kind}-${round}`;
  const series = seriesOf(random, 'numbers', kind, shapes);
  return {
    title,
    tenant,
    series,
    async check(t) {
      for (const overTime of functions) {
        const across = acrossAll[random(5)] ?? 'sum';
        const question = { metric: 'numbers', overTime, across, quantile: random(101) / 100, ...rangeOf(random) };
        await agrees(t, tenant, series, question, (members, window, step) =>
          naiveAcross(known(members.map((one) => naiveNumber(one, window, overTime, { ...question, step }))), across),
        );
      }
    },
  };
};

const known = (values: readonly (number | undefined)[]): number[] => values.filter((value) => value !== undefined);

const histogramsCase = (round: number, name: 'explicit' | 'exponential', shapes: readonly Shape[]): Case => {
  const random = seeded(round * 77 + name.length);
  const isExponential = name === 'exponential';
  const tenant = `${name}-${round}`;
  const series = seriesOf(random, 'latency', isExponential ? 'exponential_histogram' : 'histogram', shapes);
  const quantile = random(101) / 100;
  const question = { metric: 'latency', overTime: 'quantile', quantile, ...rangeOf(random) } as const;
  return {
    title: `${name} histograms answer as the slow evaluator does (${round})`,
    tenant,
    series,
    async check(t) {
      const quantileIn = (members: readonly TestSeries[], window: Window, step: number): number | undefined =>
        naiveQuantile(naiveBuckets(members, window, { ...question, step }), quantile, isExponential);
      await agrees(t, tenant, series, { ...question, across: 'sum' }, quantileIn);
      await agrees(t, tenant, series, { ...question, across: 'max' }, (members, window, step) =>
        naiveAcross(known(members.map((one) => quantileIn([one], window, step))), 'max'),
      );
    },
  };
};

const bounds = [0.5, 1, 5];
const ofPoints = ['last', 'avg', 'min', 'max', 'sum', 'count', 'quantile'] as const;
const cases = selectPart([...Array(rounds).keys()], 2).flatMap((round) => [
  numbersCase(
    `gauges answer as the slow evaluator does (${round})`,
    { round, kind: 'gauge', shapes: [gauge] },
    ofPoints,
  ),
  numbersCase(
    `counters with resets, gaps, starts and deltas answer as the slow evaluator does (${round})`,
    { round, kind: 'sum', shapes: [counter, counter, delta] },
    ['increase', 'rate'],
  ),
  histogramsCase(round, 'explicit', [explicit(bounds, 2), explicit(bounds, 1)]),
  histogramsCase(round, 'exponential', [exponential(2), exponential(1)]),
]);

let tables: MetricTables;
test.before(async () => {
  tables = await openMetricTables();
  await tables.put(cases);
});
test.after.always(() => tables?.close());

for (const { title, check } of cases) test.serial(title, check);

test('every step in these tests is aligned to the epoch', (t) => {
  for (const step of [8, 30, 60, 300, 600]) t.is((epoch / 1000) % step, 0);
});
