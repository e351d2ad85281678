import { shortNumber } from '../syntax/numbers.ts';
import type { Bucket, Histogram } from './histogram.ts';

const bucketText = ({ lower, upper, lowerInclusive, upperInclusive, count }: Bucket): string => {
  const open = lowerInclusive ? '[' : '(';
  const close = upperInclusive ? ']' : ')';
  return `${open}${shortNumber(lower)},${shortNumber(upper)}${close}:${shortNumber(count)}`;
};

/** Formats a histogram for a label value or message, as Prometheus does. */
export const histogramText = (histogram: Histogram): string => {
  const side = (positive: boolean): Bucket[] => {
    const { indexes, counts } = positive ? histogram.positive : histogram.negative;
    return indexes.map((index, at) => histogram.bucket(index, counts[at] as number, positive));
  };
  const zero = histogram.zeroCount === 0 ? [] : [histogram.zeroBucket()];
  const buckets = [...side(false).reverse(), ...zero, ...side(true)].filter(({ count }) => count !== 0);
  const head = `count:${shortNumber(histogram.count)}, sum:${shortNumber(histogram.sum)}`;
  return `{${[head, ...buckets.map(bucketText)].join(', ')}}`;
};
