/** Buckets of values: over time for heatmaps, and for histograms */
import { toNumberOrUndefined } from '../../../charts/reduce.ts';

/** Maximum number of columns; narrower columns would not be distinguishable */
const maxColumns = 120;
const defaultRows = 20;
const defaultBars = 30;
/** Maximum number of bars, regardless of the settings */
const maxBars = 200;

export interface BucketSeries {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly (readonly [time: number, value: unknown])[];
}

export interface HeatmapData {
  /** Start of each column, in epoch milliseconds */
  readonly steps: readonly number[];
  /** Rows in ascending order */
  readonly rows: readonly { readonly name: string; readonly counts: readonly number[] }[];
}

const toFinitePoints = (points: BucketSeries['points']): [number, number][] =>
  points.flatMap(([time, value]): [number, number][] => {
    const number = toNumberOrUndefined(value);
    return number === undefined || !Number.isFinite(number) ? [] : [[time, number]];
  });

/** Returns columns: one per time if there are few, otherwise columns of equal width. */
const buildColumns = (
  times: readonly number[],
): { readonly steps: readonly number[]; readonly getColumnIndex: (time: number) => number } => {
  const steps = [...new Set(times)].sort((left, right) => left - right);
  const [first = 0, last = 0] = [steps[0], steps.at(-1)];
  if (steps.length <= maxColumns) {
    const indexByTime = new Map(steps.map((step, index) => [step, index]));
    return { steps, getColumnIndex: (time) => indexByTime.get(time) ?? 0 };
  }
  const width = (last - first + 1) / maxColumns;
  return {
    steps: Array.from({ length: maxColumns }, (_, index) => Math.round(first + index * width)),
    getColumnIndex: (time) => Math.min(maxColumns - 1, Math.floor((time - first) / width)),
  };
};

/** Returns the upper bound of a bucket, from the Prometheus label or its name. */
const bucketUpperBound = ({ name, labels }: BucketSeries): number =>
  Number((labels['le'] ?? name).replace(/^\+?Inf$/i, 'Infinity'));

/** Returns the heatmap of bucket series. Prometheus buckets are cumulative. */
export const heatmapFromBuckets = (series: readonly BucketSeries[]): HeatmapData => {
  const hasNumericBounds = series.every((bucket) => !Number.isNaN(bucketUpperBound(bucket)));
  const sortedSeries = hasNumericBounds
    ? [...series].sort((left, right) => bucketUpperBound(left) - bucketUpperBound(right))
    : series;
  const isCumulative = series.length > 0 && series.every(({ labels }) => labels['le'] !== undefined);
  const { steps, getColumnIndex } = buildColumns(sortedSeries.flatMap(({ points }) => points.map(([time]) => time)));
  const sums = sortedSeries.map(({ points }) => {
    const counts = new Array<number>(steps.length).fill(0);
    for (const [time, value] of toFinitePoints(points))
      counts[getColumnIndex(time)] = (counts[getColumnIndex(time)] ?? 0) + value;
    return counts;
  });
  return {
    steps,
    rows: sortedSeries.map(({ name, labels }, row) => ({
      name: labels['le'] ?? name,
      counts: (sums[row] ?? []).map((count, step) =>
        isCumulative ? Math.max(0, count - (sums[row - 1]?.[step] ?? 0)) : count,
      ),
    })),
  };
};

/** Rounds a bucket size up to 1, 2 or 5 times a power of ten. */
const roundLength = (minLength: number): number => {
  const power = 10 ** Math.floor(Math.log10(minLength));
  return [1, 2, 5, 10].map((factor) => factor * power).find((factor) => factor >= minLength * 0.999999) ?? minLength;
};

interface Bounds {
  readonly first: number;
  readonly size: number;
  readonly count: number;
}

const computeBounds = (values: readonly number[], targetCount: number, size: number | null, offset = 0): Bounds => {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) [min, max] = [Math.min(min, value), Math.max(max, value)];
  const fittingSize = roundLength(
    Math.max((max - min) / targetCount, Math.abs(max) * 1e-9, Number.MIN_VALUE * 1e10) || 1,
  );
  const bucketSize = Math.max(size ?? fittingSize, (max - min) / maxBars);
  const first = Math.floor((min - offset) / bucketSize) * bucketSize + offset;
  return { first, size: bucketSize, count: Math.min(maxBars + 1, Math.floor((max - first) / bucketSize) + 1) };
};

const bucketIndex = ({ first, size, count }: Bounds, value: number): number =>
  Math.max(0, Math.min(count - 1, Math.floor((value - first) / size)));

/** Returns a heatmap with buckets computed from values. */
export const heatmapFromValues = (series: readonly BucketSeries[]): HeatmapData => {
  const points = series.flatMap((bucketSeries) => toFinitePoints(bucketSeries.points));
  if (points.length === 0) return { steps: [], rows: [] };
  const bounds = computeBounds(
    points.map(([, value]) => value),
    defaultRows,
    null,
  );
  const { steps, getColumnIndex } = buildColumns(points.map(([time]) => time));
  const rows = Array.from({ length: bounds.count }, () => new Array<number>(steps.length).fill(0));
  for (const [time, value] of points) {
    const row = rows[bucketIndex(bounds, value)];
    if (row !== undefined) row[getColumnIndex(time)] = (row[getColumnIndex(time)] ?? 0) + 1;
  }
  return {
    steps,
    rows: rows.map((counts, row) => ({
      name: String(Number((bounds.first + row * bounds.size).toPrecision(12))),
      counts,
    })),
  };
};

export interface Histogram {
  /** Start of each bucket */
  readonly starts: readonly number[];
  readonly size: number;
  readonly series: readonly { readonly name: string; readonly counts: readonly number[] }[];
}

export interface HistogramSettings {
  readonly bucketSize?: number | null;
  readonly bucketOffset?: number;
  readonly bucketCount?: number | null;
  readonly combines?: boolean;
}

/** Returns the number of values of each series per bucket. */
export const computeHistogram = (
  series: readonly { readonly name: string; readonly values: readonly unknown[] }[],
  { bucketSize = null, bucketOffset = 0, bucketCount = null, combines = false }: HistogramSettings,
): Histogram | undefined => {
  const numbers = series.map(({ name, values }) => ({
    name,
    values: values
      .map(toNumberOrUndefined)
      .filter((value): value is number => value !== undefined && Number.isFinite(value)),
  }));
  const allValues = numbers.flatMap(({ values }) => values);
  if (allValues.length === 0) return undefined;
  const bounds = computeBounds(allValues, bucketCount ?? defaultBars, bucketSize, bucketOffset);
  const countPerBucket = (values: readonly number[]): number[] => {
    const counts = new Array<number>(bounds.count).fill(0);
    for (const value of values) counts[bucketIndex(bounds, value)] = (counts[bucketIndex(bounds, value)] ?? 0) + 1;
    return counts;
  };
  return {
    starts: Array.from({ length: bounds.count }, (_, index) =>
      Number((bounds.first + index * bounds.size).toPrecision(12)),
    ),
    size: bounds.size,
    series: combines
      ? [{ name: 'all', counts: countPerBucket(allValues) }]
      : numbers.map(({ name, values }) => ({ name, counts: countPerBucket(values) })),
  };
};

export interface StateInterval {
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly value: unknown;
}

/** Returns the intervals from each step to the next one; merges adjacent intervals of equal value if requested. */
export const buildStateIntervals = (
  points: readonly (readonly [time: number, value: unknown])[],
  { to, shouldMerge }: { readonly to: number; readonly shouldMerge: boolean },
): StateInterval[] => {
  const gaps = points.slice(1).map(([time], index) => time - (points[index]?.[0] ?? time));
  // The last interval has the median length.
  const medianGap = [...gaps].sort((left, right) => left - right)[Math.floor(gaps.length / 2)] ?? 60_000;
  const intervals: StateInterval[] = [];
  for (const [index, [from, value]] of points.entries()) {
    const end = points[index + 1]?.[0] ?? Math.min(Math.max(to, from), from + medianGap);
    const lastInterval = intervals.at(-1);
    if (shouldMerge && lastInterval !== undefined && lastInterval.value === value)
      intervals[intervals.length - 1] = { ...lastInterval, to: end };
    else intervals.push({ from, to: end, value });
  }
  return intervals;
};
