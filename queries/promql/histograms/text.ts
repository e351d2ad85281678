import { formatWithExponent } from '../syntax/numbers.ts';
import type { Bucket, Histogram } from './histogram.ts';

const formatBucket = ({ lower, upper, isLowerInclusive, isUpperInclusive, count }: Bucket): string => {
  const open = isLowerInclusive ? '[' : '(';
  const close = isUpperInclusive ? ']' : ')';
  return `${open}${formatWithExponent(lower)},${formatWithExponent(upper)}${close}:${formatWithExponent(count)}`;
};

/** Formats a histogram for a label value or message, as Prometheus does. */
export const formatHistogram = (histogram: Histogram): string => {
  const getSideBuckets = (positive: boolean): Bucket[] => {
    const { indexes, counts } = positive ? histogram.positive : histogram.negative;
    return indexes.map((index, at) => histogram.getBucket(index, counts[at] as number, positive));
  };
  const zeroBuckets = histogram.zeroCount === 0 ? [] : [histogram.getZeroBucket()];
  const buckets = [...getSideBuckets(false).reverse(), ...zeroBuckets, ...getSideBuckets(true)].filter(
    ({ count }) => count !== 0,
  );
  const summary = `count:${formatWithExponent(histogram.count)}, sum:${formatWithExponent(histogram.sum)}`;
  return `{${[summary, ...buckets.map(formatBucket)].join(', ')}}`;
};
