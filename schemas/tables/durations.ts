/** Histogram of durations on a logarithmic scale. Quantiles are accurate within 4.4 %, and counts are exact. */

/** Number of buckets for each doubling of a duration. */
const bucketsPerDoubling = 8;

/** Returns the bucket of a duration in nanoseconds, like the SQL below. */
export const getDurationBucket = (nanoseconds: number): number =>
  Math.floor(Math.log2(nanoseconds + 1) * bucketsPerDoubling);

/** Returns the SQL expression for the bucket of a duration in nanoseconds. */
export const buildBucketSql = (nanoseconds: string): string =>
  `toUInt16(floor(log2(${nanoseconds} + 1) * ${bucketsPerDoubling}))`;

/**
 * Returns the SQL expression for a quantile (0 to 1) in nanoseconds, over a group of rows with a column
 * `duration_buckets`.
 */
export const buildQuantileSql = (quantile: number): string => {
  const mergedBuckets = 'sumMap(duration_buckets)';
  const quantileIndex = `arrayFirstIndex(cumulative -> cumulative >= ${quantile} * arraySum(mapValues(${mergedBuckets})), arrayCumSum(mapValues(${mergedBuckets})))`;
  return `exp2((mapKeys(${mergedBuckets})[${quantileIndex}] + 0.5) / ${bucketsPerDoubling})`;
};

/** Counts of a histogram by bucket. */
export type DurationBuckets = ReadonlyMap<number, number>;

/** Returns the same quantile of a histogram in memory; `undefined` if it is empty. */
export const computeQuantile = (buckets: DurationBuckets, quantile: number): number | undefined => {
  const sortedBuckets = [...buckets].sort(([left], [right]) => left - right);
  const total = sortedBuckets.reduce((sum, [, count]) => sum + count, 0);
  let cumulativeCount = 0;
  for (const [bucket, count] of sortedBuckets) {
    cumulativeCount += count;
    if (count > 0 && cumulativeCount >= quantile * total) return 2 ** ((bucket + 0.5) / bucketsPerDoubling);
  }
  return undefined;
};

/** Returns the bucket whose lower bound is nearest to a duration in nanoseconds. */
export const getNearestBucket = (nanoseconds: number): number =>
  Math.round(Math.log2(nanoseconds + 1) * bucketsPerDoubling);

/** Returns the lower bound of a bucket in nanoseconds. */
export const getBucketStart = (bucket: number): number => 2 ** (bucket / bucketsPerDoubling) - 1;

/** Number of buckets between a duration and its fourfold. */
export const bucketsPerFourfold = 2 * bucketsPerDoubling;
