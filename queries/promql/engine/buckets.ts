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

/** Makes counts monotonic; returns where they decreased by more than a rounding error. */
const makeMonotonic = (buckets: BucketCount[]): MonotonicityFix | undefined => {
  let fix: MonotonicityFix | undefined;
  let previousCount = (buckets[0] as BucketCount).count;
  for (const bucket of buckets.slice(1)) {
    const { bound, count } = bucket;
    if (count === previousCount) continue;
    if (isAlmostEqual(previousCount, count)) {
      bucket.count = previousCount;
      continue;
    }
    if (count < previousCount) {
      bucket.count = previousCount;
      fix ??= { lowest: bound, highest: bound, maxDifference: 0 };
      fix.lowest = Math.min(fix.lowest, bound);
      fix.highest = Math.max(fix.highest, bound);
      fix.maxDifference = Math.max(fix.maxDifference, previousCount - count);
      continue;
    }
    previousCount = count;
  }
  return fix;
};

/**
 * Returns the quantile of a classic histogram, interpolated linearly within its bucket. Buckets must be in ascending
 * order of bounds.
 */
export const computeBucketQuantile = (
  quantile: number,
  rawBuckets: readonly BucketCount[],
): { value: number; fix?: MonotonicityFix | undefined } => {
  if (Number.isNaN(quantile)) return { value: Number.NaN };
  if (quantile < 0) return { value: Number.NEGATIVE_INFINITY };
  if (quantile > 1) return { value: Number.POSITIVE_INFINITY };
  if (rawBuckets.at(-1)?.bound !== Number.POSITIVE_INFINITY) return { value: Number.NaN };
  const buckets = mergeEqualBounds(rawBuckets);
  const fix = makeMonotonic(buckets);
  return { value: interpolateQuantile(quantile, buckets), fix };
};

const interpolateQuantile = (quantile: number, buckets: readonly BucketCount[]): number => {
  const observations = (buckets.at(-1) as BucketCount).count;
  if (buckets.length < 2 || observations === 0) return Number.NaN;
  const rank = quantile * observations;
  const bucketIndex = buckets.findIndex(({ count }) => count >= rank);
  if (bucketIndex < 0 || bucketIndex >= buckets.length - 1) return (buckets.at(-2) as BucketCount).bound;
  const bucket = buckets[bucketIndex] as BucketCount;
  if (bucketIndex === 0 && bucket.bound <= 0) return bucket.bound;
  const previousBucket = buckets[bucketIndex - 1] ?? { bound: 0, count: 0 };
  return (
    previousBucket.bound +
    (bucket.bound - previousBucket.bound) * ((rank - previousBucket.count) / (bucket.count - previousBucket.count))
  );
};

/** Returns the number of observations below a bound, interpolated linearly within its bucket. */
const computeRankBelow = (value: number, buckets: readonly BucketCount[]): number => {
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
export const computeBucketFraction = (lower: number, upper: number, rawBuckets: readonly BucketCount[]): number => {
  if (rawBuckets.at(-1)?.bound !== Number.POSITIVE_INFINITY) return Number.NaN;
  const buckets = mergeEqualBounds(rawBuckets);
  const { count } = buckets.at(-1) as BucketCount;
  if (count === 0 || Number.isNaN(lower) || Number.isNaN(upper)) return Number.NaN;
  if (lower >= upper) return 0;
  const boundedRank = (value: number) => Math.min(computeRankBelow(value, buckets), count);
  return (boundedRank(upper) - boundedRank(lower)) / count;
};
