import { formatWithExponent } from '../syntax/numbers.ts';
import type { Bucket, Histogram } from './histogram.ts';

const formatBucket = ({ lower, upper, lowerInclusive, upperInclusive, count }: Bucket): string => {
  const open = lowerInclusive ? '[' : '(';
  const close = upperInclusive ? ']' : ')';
  return `${open}${formatWithExponent(lower)},${formatWithExponent(upper)}${close}:${formatWithExponent(count)}`;
};

/** Formats a histogram for a label value or message, as Prometheus does. */
export const formatHistogram = (histogram: Histogram): string => {
  const sideBuckets = (positive: boolean): Bucket[] => {
    const { indexes, counts } = positive ? histogram.positive : histogram.negative;
    return indexes.map((index, at) => histogram.bucket(index, counts[at] as number, positive));
  };
  const zero = histogram.zeroCount === 0 ? [] : [histogram.zeroBucket()];
  const buckets = [...sideBuckets(false).reverse(), ...zero, ...sideBuckets(true)].filter(({ count }) => count !== 0);
  const summary = `count:${formatWithExponent(histogram.count)}, sum:${formatWithExponent(histogram.sum)}`;
  return `{${[summary, ...buckets.map(formatBucket)].join(', ')}}`;
};
