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

/** Counts of a histogram by bucket. */
export type DurationBuckets = ReadonlyMap<number, number>;

/** The same quantile of a histogram in memory; undefined where it is empty. */
export const quantileOfBuckets = (buckets: DurationBuckets, quantile: number): number | undefined => {
  const sorted = [...buckets].sort(([one], [other]) => one - other);
  const total = sorted.reduce((sum, [, spans]) => sum + spans, 0);
  let passed = 0;
  for (const [bucket, spans] of sorted) {
    passed += spans;
    if (spans > 0 && passed >= quantile * total) return 2 ** ((bucket + 0.5) / bucketsPerDoubling);
  }
  return undefined;
};

/** The bucket whose beginning is nearest to a duration in nanoseconds. */
export const nearestBucket = (nanoseconds: number): number =>
  Math.round(Math.log2(nanoseconds + 1) * bucketsPerDoubling);

/** Nanoseconds at which a bucket begins: shorter durations lie in the buckets before it. */
export const beginningOfBucket = (bucket: number): number => 2 ** (bucket / bucketsPerDoubling) - 1;

/** Buckets between a duration and four times as much. */
export const fourfold = 2 * bucketsPerDoubling;
