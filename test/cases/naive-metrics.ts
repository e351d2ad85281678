/**
 * A naive implementation of metric queries, point by point as `docs/reference/metric-functions.md` defines them,
 * without SQL.
 */
import type { TestHistogram, TestPoint, TestSeries } from './metric-points.ts';

/** A window in seconds, both ends inclusive. */
export interface Window {
  readonly from: number;
  readonly to: number;
  /** The start and end of the window if the range did not truncate it. */
  readonly start: number;
  readonly end: number;
}

export const windowsIn = (from: number, to: number, step?: number): Window[] => {
  if (step === undefined) return [{ from, to, start: from, end: to + 1e-9 }];
  const windows: Window[] = [];
  for (let start = Math.floor(from / step) * step; start <= to; start += step)
    windows.push({ from: Math.max(from, start), to: Math.min(to, start + step - 1e-9), start, end: start + step });
  return windows;
};

const numberIn = ({ value, integer }: TestPoint): number => value ?? Number(integer ?? 0);
const lookbackOf = (step: number): number => Math.min(3600, Math.max(300, step));
const hasValue = ({ isStale }: TestPoint): boolean => isStale !== true;
const sorted = (points: readonly TestPoint[] = []): TestPoint[] => points.toSorted((one, other) => one.at - other.at);

interface Question {
  readonly from: number;
  readonly to: number;
  /** The length of a window. */
  readonly step: number;
}

/** The increase between two times. */
interface Growth<Value> {
  readonly since: number;
  readonly at: number;
  readonly value: Value;
}

interface Arithmetic<Value> {
  of(point: TestPoint): Value;
  minus(one: Value, other: Value): Value;
  fell(now: TestPoint, before: TestPoint): boolean;
}

/** All increases of a series that end in the range. */
const growthsOf = <Value>(
  series: TestSeries,
  { from, to, lookback }: { from: number; to: number; lookback: number },
  arithmetic: Arithmetic<Value>,
): Growth<Value>[] => {
  const points = sorted(series.points).filter(
    (point) => hasValue(point) && point.at >= from - lookback && point.at <= to,
  );
  return points.flatMap((point, index) => {
    if (point.at < from) return [];
    const before = points[index - 1];
    const growth =
      series.temporality === 1 ? ofDelta(point, before, arithmetic) : ofCounter(point, before, from, arithmetic);
    return growth === undefined ? [] : [growth];
  });
};

const ofDelta = <Value>(
  point: TestPoint,
  before: TestPoint | undefined,
  { of }: Arithmetic<Value>,
): Growth<Value> | undefined => {
  const { at, start = at } = point;
  return before?.at === at ? undefined : { since: Math.min(start, at), at, value: of(point) };
};

const ofCounter = <Value>(
  point: TestPoint,
  before: TestPoint | undefined,
  from: number,
  { of, minus, fell }: Arithmetic<Value>,
): Growth<Value> | undefined => {
  const { at, start } = point;
  if (before === undefined)
    return start !== undefined && start < at && start >= from ? { since: start, at, value: of(point) } : undefined;
  const hasRestarted = start !== undefined && start !== before.start && start >= before.at;
  if (!(hasRestarted || fell(point, before))) return { since: before.at, at, value: minus(of(point), of(before)) };
  return start === at ? undefined : { since: Math.max(start ?? before.at, before.at), at, value: of(point) };
};

/** Increases, scaled by their overlap with a window. */
const partsIn = <Value>(growths: readonly Growth<Value>[], { start, end }: Window, from: number): [number, Value][] =>
  growths.flatMap(({ since, at, value }): [number, Value][] => {
    const width = end - start;
    if (at - since <= width) return at >= start && at < end ? [[1, value]] : [];
    const begin = Math.max(since, from);
    if (end <= begin || start > at) return [];
    return [[(Math.min(end, at) - Math.max(start, begin)) / (at - since), value]];
  });

const numbers: Arithmetic<number> = {
  of: numberIn,
  minus: (one, other) => one - other,
  fell: (now, before) => numberIn(now) < numberIn(before),
};

/** The value of a series of numbers; undefined if it has none. */
export const naiveNumber = (
  series: TestSeries,
  window: Window,
  overTime: string,
  question: Question & { readonly quantile?: number },
): number | undefined => {
  const { from, to, step, quantile = 0 } = question;
  if (overTime === 'last') return newest(series, window, question);
  if (overTime === 'rate' || overTime === 'increase') {
    const parts = partsIn(growthsOf(series, { from, to, lookback: lookbackOf(step) }, numbers), window, from);
    if (parts.length === 0) return undefined;
    const grown = sumOf(parts.map(([part, value]) => part * value));
    return overTime === 'rate' ? grown / (window.to - window.from) : grown;
  }
  const own = sorted(series.points).filter(
    (point) => hasValue(point) && point.at >= window.from && point.at <= window.to,
  );
  return own.length === 0 ? undefined : ofPoints(own.map(numberIn), overTime, quantile);
};

const sumOf = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const newest = (
  series: TestSeries,
  window: Window,
  { from, to }: Pick<Question, 'from' | 'to'>,
): number | undefined => {
  const end = Math.min(to, window.end - 1e-9);
  const point = sorted(series.points).findLast(({ at }) => at >= from - 300 && at <= end);
  if (point === undefined || !hasValue(point)) return undefined;
  const isHeld = point.at >= window.start || point.at + 300 >= Math.min(window.end, to + 1e-9);
  return isHeld ? numberIn(point) : undefined;
};

const ofPoints = (own: readonly number[], overTime: string, quantile: number): number => {
  if (overTime === 'sum') return sumOf(own);
  if (overTime === 'avg') return sumOf(own) / own.length;
  if (overTime === 'count') return own.length;
  const real = own.filter((value) => !Number.isNaN(value));
  if (real.length === 0) return Number.NaN;
  if (overTime === 'min' || overTime === 'max') return Math[overTime](...real);
  const rank = quantile * (real.length - 1);
  const order = real.toSorted((one, other) => one - other);
  const [low = 0, high = 0] = [order[Math.floor(rank)], order[Math.ceil(rank)]];
  return low === high ? low : low + (high - low) * (rank - Math.floor(rank));
};

/** Aggregates the values of series to the value of their group. */
export const naiveAcross = (values: readonly number[], across: string): number | undefined => {
  if (values.length === 0) return undefined;
  const real = values.filter((value) => !Number.isNaN(value));
  const sum = values.reduce((total, value) => total + value, 0);
  if (across === 'count') return values.length;
  if (across === 'avg') return sum / values.length;
  if (across === 'min' || across === 'max') return real.length === 0 ? Number.NaN : Math[across](...real);
  return sum;
};

/** Bucket counts by bounds. */
type Counts = ReadonlyMap<string, number>;

const bucketsOf = (histogram: TestHistogram, scale = histogram.scale ?? 0): Map<string, number> => {
  const { bounds = [], counts = [], zeroCount = 0 } = histogram;
  const explicit = counts.map((count, index): [string, number] => [
    `${bounds[index - 1] ?? Number.NEGATIVE_INFINITY} ${bounds[index] ?? Number.POSITIVE_INFINITY}`,
    count,
  ]);
  if (explicit.length > 0) return new Map(explicit);
  const found = new Map<string, number>(zeroCount > 0 ? [['0 0', zeroCount]] : []);
  const [offset, own] = histogram.positive ?? [0, []];
  const base = 2 ** (2 ** -scale);
  for (const [index, count] of own.entries()) {
    const at = Math.floor((offset + index) / 2 ** ((histogram.scale ?? 0) - scale));
    const bucket = `${at} ${Number((base ** (at + 1)).toPrecision(12))}`;
    found.set(bucket, (found.get(bucket) ?? 0) + count);
  }
  return found;
};

const histograms = (scale: number): Arithmetic<Counts> => ({
  of: ({ histogram }) => bucketsOf(histogram as TestHistogram, scale),
  minus: (one, other) => new Map([...one].map(([bucket, count]) => [bucket, count - (other.get(bucket) ?? 0)])),
  fell: ({ histogram: now }, { histogram: before }) => {
    if (now === undefined || before === undefined) return false;
    if (now.count < before.count || String(now.bounds) !== String(before.bounds)) return true;
    if ((now.scale ?? 0) !== (before.scale ?? 0)) return (now.scale ?? 0) > (before.scale ?? 0);
    const counts = bucketsOf(now);
    return [...bucketsOf(before)].some(([bucket, count]) => bucket !== '0 0' && (counts.get(bucket) ?? 0) < count);
  },
});

const partsOf = <Value>(
  series: readonly TestSeries[],
  window: Window,
  { from, to, step }: Question,
  arithmetic: Arithmetic<Value>,
): [number, Value][] =>
  series.flatMap((one) => partsIn(growthsOf(one, { from, to, lookback: lookbackOf(step) }, arithmetic), window, from));

/**
 * The buckets of several series in a window, at the coarsest scale of points with an increase; undefined if there are
 * none.
 */
export const naiveBuckets = (
  series: readonly TestSeries[],
  window: Window,
  question: Question,
): { readonly counts: Counts; readonly scale: number } | undefined => {
  const { fell } = histograms(0);
  const grown = partsOf(series, window, question, { of: (point) => point, minus: (one) => one, fell });
  if (grown.length === 0) return undefined;
  const scale = Math.min(...grown.map(([, { histogram }]) => histogram?.scale ?? 0));
  const counts = new Map<string, number>();
  for (const [part, own] of partsOf(series, window, question, histograms(scale)))
    for (const [bucket, count] of own) counts.set(bucket, (counts.get(bucket) ?? 0) + part * count);
  return { counts, scale };
};

/** Buckets as lower bound, upper bound and count, in order. */
export const naiveQuantile = (
  found: { readonly counts: Counts; readonly scale: number } | undefined,
  quantile: number,
  isExponential: boolean,
): number | undefined => {
  if (found === undefined) return undefined;
  const base = 2 ** (2 ** -found.scale);
  const buckets = [...found.counts]
    .map(([name, count]) => {
      const [first = 0, upper = 0] = name.split(' ').map(Number);
      return { lower: isExponential && name !== '0 0' ? base ** first : first, upper, count };
    })
    .filter(({ count }) => count > 1e-9)
    .toSorted((one, other) => one.upper - other.upper);
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  let rank = quantile * total;
  for (const { lower, upper, count } of buckets) {
    if (rank > count + 1e-9) {
      rank -= count;
      continue;
    }
    if (upper === Number.POSITIVE_INFINITY) return lower;
    if (isExponential && lower > 0) return lower * (upper / lower) ** (rank / count);
    const begin = lower === Number.NEGATIVE_INFINITY ? Math.min(0, upper) : lower;
    return begin + (upper - begin) * (rank / count);
  }
  return undefined;
};
