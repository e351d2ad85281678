/** How durations are counted: a histogram with a logarithmic scale. A quantile of it is off by 4.4 % at most, counts are exact. */

/** Buckets in each doubling of a duration. */
const bucketsPerDoubling = 8;

/** Bucket of a duration in nanoseconds: the SQL below in TypeScript. */
export const durationBucket = (nanoseconds: number): number =>
  Math.floor(Math.log2(nanoseconds + 1) * bucketsPerDoubling);

/** SQL of the bucket of a duration in nanoseconds. */
export const durationBucketSql = (nanoseconds: string): string =>
  `toUInt16(floor(log2(${nanoseconds} + 1) * ${bucketsPerDoubling}))`;

/** SQL of a quantile (0 to 1) in nanoseconds over a group of rows with a column `duration_buckets`. */
export const durationQuantile = (quantile: number): string => {
  const merged = 'sumMap(duration_buckets)';
  const first = `arrayFirstIndex(spans -> spans >= ${quantile} * arraySum(mapValues(${merged})), arrayCumSum(mapValues(${merged})))`;
  return `exp2((mapKeys(${merged})[${first}] + 0.5) / ${bucketsPerDoubling})`;
};
