import type { Bucket, Histogram } from './histogram.ts';

/** Annotation for a quantile or fraction whose observations include NaN. */
export type NanNote = 'nan-result' | 'nan-skew' | 'nan-fraction';

export interface AnnotatedValue {
  readonly value: number;
  readonly note?: NanNote;
}

/** Returns the share of a bucket below a value, on a linear or logarithmic scale. */
export const bucketFractionBelow = ({ lower, upper }: Bucket, value: number, linear: boolean): number => {
  if (linear) return (value - lower) / (upper - lower);
  const logLower = Math.log2(Math.abs(lower));
  const logUpper = Math.log2(Math.abs(upper));
  const log = Math.log2(Math.abs(value));
  return value > 0 ? (log - logLower) / (logUpper - logLower) : 1 - (log - logUpper) / (logLower - logUpper);
};

/**
 * Returns the bounds between which a quantile is interpolated in a bucket. If a bucket extends to both sides of 0 and
 * one side has no observations, that side ends at 0.
 */
const interpolationBounds = (histogram: Histogram, { lower, upper }: Bucket): { lower: number; upper: number } => {
  if (histogram.custom || !(lower < 0 && upper > 0)) return { lower, upper };
  const negative = histogram.negative.counts.length > 0;
  const positive = histogram.positive.counts.length > 0;
  return { lower: !negative && positive ? 0 : lower, upper: !positive && negative ? 0 : upper };
};

/** Returns a quantile at the edge of custom buckets, which have no other side to interpolate to. */
const edgeQuantile = (histogram: Histogram, { lower, upper }: { lower: number; upper: number }): number | undefined => {
  if (!histogram.custom) return undefined;
  if (lower === Number.NEGATIVE_INFINITY) return upper <= 0 ? upper : undefined;
  return upper === Number.POSITIVE_INFINITY ? lower : undefined;
};

const interpolate = (lower: number, upper: number, fraction: number, linear: boolean): number => {
  if (linear || (lower <= 0 && upper >= 0)) return lower + (upper - lower) * fraction;
  const logLower = Math.log2(Math.abs(lower));
  const logUpper = Math.log2(Math.abs(upper));
  if (lower > 0) return 2 ** (logLower + (logUpper - logLower) * fraction);
  return -(2 ** (logUpper + (logLower - logUpper) * (1 - fraction)));
};

/** Returns the index of the bucket of a rank, and the cumulative count to its end. */
const findBucket = (buckets: readonly Bucket[], rank: number): { at: number; seen: number } => {
  let seen = 0;
  let at = -1;
  for (const [place, { count }] of buckets.entries()) {
    at = place;
    seen += count;
    if (count !== 0 && seen >= rank) break;
  }
  return { at, seen };
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
  const buckets = isForward ? histogram.allBuckets() : histogram.allBuckets().reverse();
  const rank = (isForward ? quantile : 1 - quantile) * histogram.count;
  const { at, seen } = findBucket(buckets, rank);
  const unreachedResult: AnnotatedValue = hasNan ? { value: Number.NaN, note: 'nan-result' } : { value: 0 };
  const bucket = buckets[at];
  if (bucket === undefined) return unreachedResult;
  const bounds = interpolationBounds(histogram, bucket);
  const edge = edgeQuantile(histogram, bounds);
  if (edge !== undefined) return { value: edge };
  if (histogram.custom && bounds.lower === Number.NEGATIVE_INFINITY) bounds.lower = 0;
  const counted = Math.min(seen, histogram.count);
  if (counted < rank) return hasNan ? unreachedResult : { value: bounds.upper };
  const within = isForward ? rank - (counted - bucket.count) : counted - rank;
  const value = interpolate(bounds.lower, bounds.upper, within / bucket.count, histogram.custom);
  const rest = buckets.slice(at + 1).reduce((sum, { count }) => sum + count, counted);
  return hasNan && rest < histogram.count ? { value, note: 'nan-skew' } : { value };
};

/** Counts observations up to a bound, which may be within a bucket. */
class RankCounter {
  rank: number | undefined;
  readonly #bound: number;

  constructor(bound: number) {
    this.#bound = bound;
  }

  /** Adds the next bucket; `before` is the count below it. */
  addBucket(bucket: Bucket, before: number, linear: boolean): void {
    if (this.rank !== undefined) return;
    if (bucket.lower >= this.#bound) this.rank = before;
    else if (bucket.upper > this.#bound)
      this.rank =
        linear && bucket.lower === Number.NEGATIVE_INFINITY
          ? bucket.count
          : before + bucket.count * bucketFractionBelow(bucket, this.#bound, linear);
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
  for (const bucket of histogram.allBuckets()) {
    const zero = isZeroBucket(bucket);
    const bounds = zero ? zeroBounds(histogram, bucket) : bucket;
    const clipped = { ...bucket, lower: bounds.lower, upper: bounds.upper };
    from.addBucket(clipped, rank, histogram.custom || zero);
    to.addBucket(clipped, rank, histogram.custom || zero);
    total += bucket.count;
    rank += bucket.count;
  }
  const hasNan = Number.isNaN(histogram.sum);
  const count = hasNan ? total : histogram.count;
  const boundRank = (found: number | undefined) => (found === undefined || found > count ? count : found);
  const value = (boundRank(to.rank) - boundRank(from.rank)) / histogram.count;
  return hasNan && total < histogram.count ? { value, note: 'nan-fraction' } : { value };
};

const zeroBounds = (histogram: Histogram, { lower, upper }: Bucket): { lower: number; upper: number } => {
  const negative = histogram.negative.counts.length > 0;
  const positive = histogram.positive.counts.length > 0;
  return { lower: !negative && positive ? 0 : lower, upper: !positive && negative ? 0 : upper };
};
