import type { Bucket, Buckets, Histogram } from './histogram.ts';
import { computeBucketFractionBelow } from './quantiles.ts';

/** Remaining count of a trimmed bucket, and the value assumed for its observations. */
interface Remainder {
  readonly count: number;
  readonly middle: number;
}

const emptyRemainder: Remainder = { count: 0, middle: 0 };
const isInfinite = (value: number): boolean => Math.abs(value) === Number.POSITIVE_INFINITY;
const zeroIfInfinite = (value: number): number => (isInfinite(value) ? 0 : value);

const computeBucketMiddle = (lower: number, upper: number, positive: boolean, linear: boolean): number => {
  if (isInfinite(lower)) {
    if (isInfinite(upper)) return 0;
    return upper > 0 ? upper / 2 : upper;
  }
  if (isInfinite(upper)) return lower;
  if (linear) return (lower + upper) / 2;
  const mean = Math.sqrt(Math.abs(lower * upper));
  return positive ? mean : -mean;
};

/** Trims the bucket without a lower bound. If it extends above 0, it is treated as if it began at 0. */
const trimUnboundedBelow = ({ upper, count }: Bucket, bound: number, keepsBelow: boolean): Remainder => {
  if (keepsBelow) {
    if (bound >= upper) return { count, middle: 0 };
    if (bound > 0 && upper > 0 && !isInfinite(upper)) return { count: (count * bound) / upper, middle: bound / 2 };
    return upper <= 0 ? { count, middle: bound } : { count: 0, middle: zeroIfInfinite(upper) };
  }
  if (bound === Number.NEGATIVE_INFINITY) return { count, middle: 0 };
  if (bound >= 0 && upper > bound && !isInfinite(upper))
    return { count: count * (1 - bound / upper), middle: (bound + upper) / 2 };
  return { count: 0, middle: zeroIfInfinite(upper) };
};

const trimUnboundedAbove = ({ lower, count }: Bucket, bound: number, keepsBelow: boolean): Remainder =>
  !keepsBelow && bound >= lower ? { count, middle: bound } : { count: 0, middle: zeroIfInfinite(lower) };

const trimBucket = (
  bucket: Bucket,
  bound: number,
  keepsBelow: boolean,
  positive: boolean,
  linear: boolean,
): Remainder => {
  const { lower, upper, count } = bucket;
  if (keepsBelow ? upper <= bound : lower >= bound)
    return { count, middle: computeBucketMiddle(lower, upper, positive, linear) };
  if (!(keepsBelow ? lower < bound : upper > bound)) return emptyRemainder;
  if (lower === Number.NEGATIVE_INFINITY) return trimUnboundedBelow(bucket, bound, keepsBelow);
  if (upper === Number.POSITIVE_INFINITY) return trimUnboundedAbove(bucket, bound, keepsBelow);
  const countBelow = count * computeBucketFractionBelow(bucket, bound, linear);
  return keepsBelow
    ? { count: countBelow, middle: computeBucketMiddle(lower, bound, positive, linear) }
    : { count: count - countBelow, middle: computeBucketMiddle(bound, upper, positive, linear) };
};

const trimZeroBucket = (histogram: Histogram, bound: number, keepsBelow: boolean, signs: Signs): Remainder => {
  const count = histogram.zeroCount;
  const lower = signs.positive && !signs.negative ? 0 : -histogram.zeroThreshold;
  const upper = signs.negative && !signs.positive ? 0 : histogram.zeroThreshold;
  const middle = (lower + upper) / 2;
  if (bound <= lower) return keepsBelow ? emptyRemainder : { count, middle };
  if (bound >= upper) return keepsBelow ? { count, middle } : emptyRemainder;
  return keepsBelow
    ? { count: count * ((bound - lower) / (upper - lower)), middle: (lower + bound) / 2 }
    : { count: count * ((upper - bound) / (upper - lower)), middle: (bound + upper) / 2 };
};

interface Signs {
  readonly positive: boolean;
  readonly negative: boolean;
}

/**
 * Returns the part below a bound (`</`) or above it (`>/`). If a bucket was trimmed, count and sum are estimated
 * again.
 */
export const trimHistogram = (histogram: Histogram, bound: number, keepsBelow: boolean): Histogram => {
  const result = histogram.copy();
  let count = 0;
  let sum = 0;
  let isBucketTrimmed = false;
  const add = (originalCount: number, remainder: Remainder): number => {
    count += remainder.count;
    sum += remainder.middle * remainder.count;
    isBucketTrimmed ||= originalCount !== remainder.count;
    return remainder.count;
  };
  const trimSide = ({ indexes, counts }: Buckets, positive: boolean): Buckets => ({
    indexes,
    counts: counts.map((originalCount, at) => {
      if (originalCount === 0) return 0;
      const bucket = histogram.getBucket(indexes[at] as number, originalCount, positive);
      return add(originalCount, trimBucket(bucket, bound, keepsBelow, positive, histogram.isCustom));
    }),
  });
  result.positive = trimSide(histogram.positive, true);
  result.negative = trimSide(histogram.negative, false);
  const hasCounts = ({ counts: bucketCounts }: Buckets) => bucketCounts.some((count) => count !== 0);
  const signs = { positive: hasCounts(histogram.positive), negative: hasCounts(histogram.negative) };
  if (histogram.zeroCount > 0)
    result.zeroCount = add(histogram.zeroCount, trimZeroBucket(histogram, bound, keepsBelow, signs));
  if (!isBucketTrimmed) return result;
  result.count = count;
  result.sum = sum;
  return result.compact();
};
