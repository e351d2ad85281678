import type { Bucket, Histogram } from './histogram.ts';

/** Annotation for a quantile or fraction whose observations include NaN. */
export type NanNote = 'nan-result' | 'nan-skew' | 'nan-fraction';

export interface AnnotatedValue {
  readonly value: number;
  readonly note?: NanNote;
}

/** Returns the share of a bucket below a value, on a linear or logarithmic scale. */
export const computeBucketFractionBelow = ({ lower, upper }: Bucket, value: number, isLinear: boolean): number => {
  if (isLinear) return (value - lower) / (upper - lower);
  const logLower = Math.log2(Math.abs(lower));
  const logUpper = Math.log2(Math.abs(upper));
  const log = Math.log2(Math.abs(value));
  return value > 0 ? (log - logLower) / (logUpper - logLower) : 1 - (log - logUpper) / (logLower - logUpper);
};

/**
 * Returns the bounds between which a quantile is interpolated in a bucket. If a bucket extends to both sides of 0 and
 * one side has no observations, that side ends at 0.
 */
const computeInterpolationBounds = (
  histogram: Histogram,
  { lower, upper }: Bucket,
): { lower: number; upper: number } => {
  if (histogram.isCustom || !(lower < 0 && upper > 0)) return { lower, upper };
  const negative = histogram.negative.counts.length > 0;
  const positive = histogram.positive.counts.length > 0;
  return { lower: !negative && positive ? 0 : lower, upper: !positive && negative ? 0 : upper };
};

/** Returns a quantile at the edge of custom buckets, which have no other side to interpolate to. */
const getEdgeQuantile = (
  histogram: Histogram,
  { lower, upper }: { lower: number; upper: number },
): number | undefined => {
  if (!histogram.isCustom) return undefined;
  if (lower === Number.NEGATIVE_INFINITY) return upper <= 0 ? upper : undefined;
  return upper === Number.POSITIVE_INFINITY ? lower : undefined;
};

const interpolate = (lower: number, upper: number, fraction: number, isLinear: boolean): number => {
  if (isLinear || (lower <= 0 && upper >= 0)) return lower + (upper - lower) * fraction;
  const logLower = Math.log2(Math.abs(lower));
  const logUpper = Math.log2(Math.abs(upper));
  if (lower > 0) return 2 ** (logLower + (logUpper - logLower) * fraction);
  return -(2 ** (logUpper + (logLower - logUpper) * (1 - fraction)));
};

/** Returns the index of the bucket of a rank, and the cumulative count to its end. */
const findBucket = (buckets: readonly Bucket[], rank: number): { bucketIndex: number; cumulativeCount: number } => {
  let cumulativeCount = 0;
  let bucketIndex = -1;
  for (const [index, { count }] of buckets.entries()) {
    bucketIndex = index;
    cumulativeCount += count;
    if (count !== 0 && cumulativeCount >= rank) break;
  }
  return { bucketIndex, cumulativeCount };
};

/** Returns the quantile of a histogram's observations, interpolated within its bucket as in Prometheus. */
export const computeHistogramQuantile = (quantile: number, histogram: Histogram): AnnotatedValue => {
  if (quantile < 0) return { value: Number.NEGATIVE_INFINITY };
  if (quantile > 1) return { value: Number.POSITIVE_INFINITY };
  if (histogram.count === 0 || Number.isNaN(quantile)) return { value: Number.NaN };
  return interpolateQuantile(quantile, histogram);
};

const interpolateQuantile = (quantile: number, histogram: Histogram): AnnotatedValue => {
  const hasNan = Number.isNaN(histogram.sum);
  const isForward = hasNan || quantile < 0.5;
  const buckets = isForward ? histogram.getAllBuckets() : histogram.getAllBuckets().reverse();
  const rank = (isForward ? quantile : 1 - quantile) * histogram.count;
  const { bucketIndex, cumulativeCount } = findBucket(buckets, rank);
  const unreachedResult: AnnotatedValue = hasNan ? { value: Number.NaN, note: 'nan-result' } : { value: 0 };
  const bucket = buckets[bucketIndex];
  if (bucket === undefined) return unreachedResult;
  const bounds = computeInterpolationBounds(histogram, bucket);
  const edgeValue = getEdgeQuantile(histogram, bounds);
  if (edgeValue !== undefined) return { value: edgeValue };
  if (histogram.isCustom && bounds.lower === Number.NEGATIVE_INFINITY) bounds.lower = 0;
  const boundedCount = Math.min(cumulativeCount, histogram.count);
  if (boundedCount < rank) return hasNan ? unreachedResult : { value: bounds.upper };
  const rankInBucket = isForward ? rank - (boundedCount - bucket.count) : boundedCount - rank;
  const value = interpolate(bounds.lower, bounds.upper, rankInBucket / bucket.count, histogram.isCustom);
  const totalCount = buckets.slice(bucketIndex + 1).reduce((sum, { count }) => sum + count, boundedCount);
  return hasNan && totalCount < histogram.count ? { value, note: 'nan-skew' } : { value };
};

/** Counts observations up to a bound, which may be within a bucket. */
class RankCounter {
  rank: number | undefined;
  readonly #bound: number;

  constructor(bound: number) {
    this.#bound = bound;
  }

  /** Adds the next bucket; `countBelow` is the count below it. */
  addBucket(bucket: Bucket, countBelow: number, isLinear: boolean): void {
    if (this.rank !== undefined) return;
    if (bucket.lower >= this.#bound) this.rank = countBelow;
    else if (bucket.upper > this.#bound)
      this.rank =
        isLinear && bucket.lower === Number.NEGATIVE_INFINITY
          ? bucket.count
          : countBelow + bucket.count * computeBucketFractionBelow(bucket, this.#bound, isLinear);
  }
}

const isZeroBucket = ({ lower, upper }: Bucket): boolean => lower <= 0 && upper >= 0;

/** Returns the fraction of a histogram's observations between two bounds. */
export const computeFraction = (lower: number, upper: number, histogram: Histogram): AnnotatedValue => {
  if (histogram.count === 0 || Number.isNaN(lower) || Number.isNaN(upper)) return { value: Number.NaN };
  if (lower >= upper) return { value: 0 };
  const from = new RankCounter(lower);
  const to = new RankCounter(upper);
  let rank = 0;
  let total = 0;
  for (const bucket of histogram.getAllBuckets()) {
    const isZero = isZeroBucket(bucket);
    const bounds = isZero ? computeZeroBounds(histogram, bucket) : bucket;
    const clippedBucket = { ...bucket, lower: bounds.lower, upper: bounds.upper };
    from.addBucket(clippedBucket, rank, histogram.isCustom || isZero);
    to.addBucket(clippedBucket, rank, histogram.isCustom || isZero);
    total += bucket.count;
    rank += bucket.count;
  }
  const hasNan = Number.isNaN(histogram.sum);
  const count = hasNan ? total : histogram.count;
  const clampRank = (bucketRank: number | undefined) =>
    bucketRank === undefined || bucketRank > count ? count : bucketRank;
  const value = (clampRank(to.rank) - clampRank(from.rank)) / histogram.count;
  return hasNan && total < histogram.count ? { value, note: 'nan-fraction' } : { value };
};

const computeZeroBounds = (histogram: Histogram, { lower, upper }: Bucket): { lower: number; upper: number } => {
  const negative = histogram.negative.counts.length > 0;
  const positive = histogram.positive.counts.length > 0;
  return { lower: !negative && positive ? 0 : lower, upper: !positive && negative ? 0 : upper };
};
