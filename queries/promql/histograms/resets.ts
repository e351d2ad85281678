import type { ResetHint } from '../series.ts';
import { countWidenedZeroBucket, reduceBuckets } from './arithmetic.ts';
import { computeExponentialBound } from './bounds.ts';
import { type Buckets, type Histogram, hasSameBounds } from './histogram.ts';

/**
 * Returns whether a counter was reset between two histograms: a count decreased, a bucket is missing, or the
 * resolution increased.
 */
export const wasReset = (current: Histogram, previous: Histogram): boolean => {
  if (current.hint === 'reset') return true;
  if (current.hint === 'not-reset') return false;
  if (current.count < previous.count) return true;
  if (current.isCustom) {
    if (!previous.isCustom) return true;
    return hasSameBounds(current.bounds, previous.bounds)
      ? hasDecreased(current.positive, previous.positive)
      : hasCustomDecrease(current, previous);
  }
  return previous.isCustom || hasExponentialDecrease(current, previous);
};

/**
 * Returns the hint that Prometheus' storage returns: gauge, or whether a histogram continues the previous one. A reset
 * declared by a sender is not returned.
 */
export const computeStoredHint = (current: Histogram, previous: Histogram | undefined): ResetHint => {
  if (current.hint === 'gauge') return 'gauge';
  const isContinuation =
    previous !== undefined &&
    previous.hint !== 'gauge' &&
    current.hint !== 'reset' &&
    current.schema === previous.schema &&
    current.zeroThreshold === previous.zeroThreshold &&
    hasSameBounds(current.bounds, previous.bounds) &&
    !wasReset(current.withHint('unknown'), previous);
  return isContinuation ? 'not-reset' : 'unknown';
};

const hasExponentialDecrease = (current: Histogram, previous: Histogram): boolean => {
  if (current.schema > previous.schema || current.zeroThreshold < previous.zeroThreshold) return true;
  const zero = countWidenedZeroBucket(previous, current.zeroThreshold);
  if (zero.threshold !== current.zeroThreshold || current.zeroCount < zero.count) return true;
  const toComparable = (buckets: Buckets) => {
    const coarse =
      previous.schema === current.schema ? buckets : reduceBuckets(buckets, previous.schema, current.schema);
    return removeZeroBuckets(coarse, current);
  };
  return (
    hasDecreased(removeZeroBuckets(current.positive, current), toComparable(previous.positive)) ||
    hasDecreased(removeZeroBuckets(current.negative, current), toComparable(previous.negative))
  );
};

/** Returns the buckets that end outside the zero bucket. */
const removeZeroBuckets = ({ indexes, counts }: Buckets, { schema, zeroThreshold }: Histogram): Buckets => {
  if (zeroThreshold === 0) return { indexes, counts };
  const first = indexes.findIndex((index) => computeExponentialBound(index, schema) > zeroThreshold);
  return first < 0 ? { indexes: [], counts: [] } : { indexes: indexes.slice(first), counts: counts.slice(first) };
};

/** Returns whether a bucket has a smaller count than before, or is missing although it was not empty. */
const hasDecreased = (current: Buckets, previous: Buckets): boolean => {
  let at = 0;
  for (const [previousPosition, index] of previous.indexes.entries()) {
    const previousCount = previous.counts[previousPosition] as number;
    while (at < current.indexes.length && (current.indexes[at] as number) < index) at++;
    if (current.indexes[at] === index) {
      if ((current.counts[at] as number) < previousCount) return true;
    } else if (previousCount !== 0) return true;
  }
  return false;
};

/** Compares counts up to each common bound, from the previous common bound on. */
const hasCustomDecrease = (current: Histogram, previous: Histogram): boolean => {
  const commonBounds = [...current.bounds.filter((bound) => previous.bounds.includes(bound)), Number.POSITIVE_INFINITY];
  const currentCounts = sumUpTo(current, commonBounds);
  const previousCounts = sumUpTo(previous, commonBounds);
  return commonBounds.some((_, at) => (currentCounts[at] as number) < (previousCounts[at] as number));
};

const sumUpTo = (histogram: Histogram, bounds: readonly number[]): number[] => {
  const sums = bounds.map(() => 0);
  for (const [at, index] of histogram.positive.indexes.entries()) {
    const upper = histogram.bounds[index] ?? Number.POSITIVE_INFINITY;
    const boundIndex = bounds.findIndex((bound) => bound >= upper);
    sums[boundIndex] = (sums[boundIndex] as number) + (histogram.positive.counts[at] as number);
  }
  return sums;
};
