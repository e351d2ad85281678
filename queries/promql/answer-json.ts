/** Serializes answers in the format of `/api/v1/query` and `/api/v1/query_range` of Prometheus. */
import type { Answer, MatrixSeries } from './engine/result.ts';
import { formatPrometheusNumber } from './fetch/numbers.ts';
import { type Bucket, fromNative } from './histograms/histogram.ts';
import type { NativeHistogram } from './series.ts';

type Json = Readonly<Record<string, unknown>>;

/** Returns the boundary code of a bucket: upper bound inclusive, lower inclusive, neither, both. */
const boundaryCode = ({ lowerInclusive, upperInclusive }: Bucket): number => {
  if (lowerInclusive) return upperInclusive ? 3 : 1;
  return upperInclusive ? 0 : 2;
};

const toHistogramJson = (native: NativeHistogram): Json => {
  const buckets = fromNative(native)
    .allBuckets()
    .filter(({ count }) => count !== 0)
    .map((bucket) => [
      boundaryCode(bucket),
      ...[bucket.lower, bucket.upper, bucket.count].map((value) => formatPrometheusNumber(value)),
    ]);
  return {
    count: formatPrometheusNumber(native.count),
    sum: formatPrometheusNumber(native.sum),
    ...(buckets.length > 0 && { buckets }),
  };
};

/**
 * Serializes times and values lazily, one series at a time, because the arrays of an entire answer take several times
 * the memory of its text.
 */
const toPointsJson = (times: Float64Array, toValueJson: (at: number) => unknown) => ({
  toJSON: () => Array.from(times, (time, at) => [time / 1000, toValueJson(at)]),
});

const toSeriesJson = ({ labels, times, values, histogramTimes, histograms }: MatrixSeries): Json => ({
  metric: labels,
  ...(times.length > 0 && {
    values: toPointsJson(times, (at) => formatPrometheusNumber(values[at] as number)),
  }),
  ...(histograms.length > 0 && {
    histograms: toPointsJson(histogramTimes, (at) => toHistogramJson(histograms[at] as NativeHistogram)),
  }),
});

/** Returns the first `limit` series of an answer, and whether there are more. */
const limitItems = <Item>(items: readonly Item[], limit: number): readonly [readonly Item[], boolean] =>
  items.length > limit ? [items.slice(0, limit), true] : [items, false];

/** Returns type and result of an answer, with at most `limit` series. */
export const toAnswerJson = (
  answer: Answer,
  limit: number,
): { readonly data: { readonly resultType: string; readonly result: unknown }; readonly hasOmittedSeries: boolean } => {
  switch (answer.type) {
    case 'vector': {
      const [elements, hasOmittedSeries] = limitItems(answer.elements, limit);
      const seconds = answer.timeMs / 1000;
      const result = elements.map(({ labels, value }) =>
        typeof value === 'number'
          ? { metric: labels, value: [seconds, formatPrometheusNumber(value)] }
          : { metric: labels, histogram: [seconds, toHistogramJson(value)] },
      );
      return { data: { resultType: 'vector', result }, hasOmittedSeries };
    }
    case 'matrix': {
      const [series, hasOmittedSeries] = limitItems(answer.series, limit);
      return { data: { resultType: 'matrix', result: series.map(toSeriesJson) }, hasOmittedSeries };
    }
    case 'scalar':
      return {
        data: { resultType: 'scalar', result: [answer.timeMs / 1000, formatPrometheusNumber(answer.value)] },
        hasOmittedSeries: false,
      };
    default:
      return { data: { resultType: 'string', result: [answer.timeMs / 1000, answer.value] }, hasOmittedSeries: false };
  }
};
