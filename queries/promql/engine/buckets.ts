/** A bucket of a classic histogram: the number of observations up to its bound. */
export interface BucketCount {
  readonly bound: number;
  count: number;
}

/** Corrections that made counts monotonic. */
export interface MonotonicityFix {
  lowest: number;
  highest: number;
  maxDifference: number;
}

/** Relative differences below this are rounding errors. */
const tolerance = 1e-12;
const smallestNormal = 2 ** -1022;

const isAlmostEqual = (left: number, right: number): boolean => {
  if (left === right || (Number.isNaN(left) && Number.isNaN(right))) return true;
  const sum = Math.abs(left) + Math.abs(right);
  const difference = Math.abs(left - right);
  if (left === 0 || right === 0 || sum < smallestNormal) return difference < tolerance * smallestNormal;
  return difference / Math.min(sum, Number.MAX_VALUE) < tolerance;
};

/** Adds buckets with equal bounds. */
const mergeEqualBounds = (buckets: readonly BucketCount[]): BucketCount[] => {
  const result: BucketCount[] = [];
  for (const { bound, count } of buckets) {
    const last = result.at(-1);
    if (last !== undefined && last.bound === bound) last.count += count;
    else result.push({ bound, count });
  }
  return result;
};

/** Makes counts monotonic; returns where they fell by more than a rounding error. */
const makeMonotonic = (buckets: BucketCount[]): MonotonicityFix | undefined => {
  let forced: MonotonicityFix | undefined;
  let before = (buckets[0] as BucketCount).count;
  for (const bucket of buckets.slice(1)) {
    const { bound, count } = bucket;
    if (count === before) continue;
    if (isAlmostEqual(before, count)) {
      bucket.count = before;
      continue;
    }
    if (count < before) {
      bucket.count = before;
      forced ??= { lowest: bound, highest: bound, maxDifference: 0 };
      forced.lowest = Math.min(forced.lowest, bound);
      forced.highest = Math.max(forced.highest, bound);
      forced.maxDifference = Math.max(forced.maxDifference, before - count);
      continue;
    }
    before = count;
  }
  return forced;
};

/**
 * Returns the quantile of a classic histogram, interpolated linearly within its bucket. Buckets must be in ascending
 * order of bounds.
 */
export const bucketQuantile = (
  quantile: number,
  unmerged: readonly BucketCount[],
): { value: number; forced?: MonotonicityFix | undefined } => {
  if (Number.isNaN(quantile)) return { value: Number.NaN };
  if (quantile < 0) return { value: Number.NEGATIVE_INFINITY };
  if (quantile > 1) return { value: Number.POSITIVE_INFINITY };
  if (unmerged.at(-1)?.bound !== Number.POSITIVE_INFINITY) return { value: Number.NaN };
  const buckets = mergeEqualBounds(unmerged);
  const forced = makeMonotonic(buckets);
  return { value: interpolateQuantile(quantile, buckets), forced };
};

const interpolateQuantile = (quantile: number, buckets: readonly BucketCount[]): number => {
  const observations = (buckets.at(-1) as BucketCount).count;
  if (buckets.length < 2 || observations === 0) return Number.NaN;
  const rank = quantile * observations;
  const bucketIndex = buckets.findIndex(({ count }) => count >= rank);
  if (bucketIndex < 0 || bucketIndex >= buckets.length - 1) return (buckets.at(-2) as BucketCount).bound;
  const bucket = buckets[bucketIndex] as BucketCount;
  if (bucketIndex === 0 && bucket.bound <= 0) return bucket.bound;
  const below = buckets[bucketIndex - 1] ?? { bound: 0, count: 0 };
  return below.bound + (bucket.bound - below.bound) * ((rank - below.count) / (bucket.count - below.count));
};

/** Returns the number of observations below a bound, interpolated linearly within its bucket. */
const rankBelow = (value: number, buckets: readonly BucketCount[]): number => {
  let rank = 0;
  let lower = (buckets[0] as BucketCount).bound <= 0 ? Number.NEGATIVE_INFINITY : 0;
  for (const { bound, count } of buckets) {
    if (lower >= value) return rank;
    if (bound > value)
      return lower === Number.NEGATIVE_INFINITY ? count : rank + ((count - rank) * (value - lower)) / (bound - lower);
    rank = count;
    lower = bound;
  }
  return Number.POSITIVE_INFINITY;
};

/**
 * Returns the fraction of a classic histogram's observations between two bounds. Buckets must be in ascending order of
 * bounds.
 */
export const bucketFraction = (lower: number, upper: number, unmerged: readonly BucketCount[]): number => {
  if (unmerged.at(-1)?.bound !== Number.POSITIVE_INFINITY) return Number.NaN;
  const buckets = mergeEqualBounds(unmerged);
  const { count } = buckets.at(-1) as BucketCount;
  if (count === 0 || Number.isNaN(lower) || Number.isNaN(upper)) return Number.NaN;
  if (lower >= upper) return 0;
  const boundedRank = (value: number) => Math.min(rankBelow(value, buckets), count);
  return (boundedRank(upper) - boundedRank(lower)) / count;
};
