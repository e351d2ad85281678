/** Serializes results in the format of `/api/v1/query` and `/api/v1/query_range` of Prometheus. */
import type { MatrixSeries, PromqlResult } from './engine/result.ts';
import { formatPrometheusNumber } from './fetch/numbers.ts';
import { type Bucket, fromNative } from './histograms/histogram.ts';
import type { NativeHistogram } from './series.ts';

type Json = Readonly<Record<string, unknown>>;

/** Returns the boundary code of a bucket: upper bound inclusive, lower inclusive, neither, both. */
const getBoundaryCode = ({ isLowerInclusive, isUpperInclusive }: Bucket): number => {
  if (isLowerInclusive) return isUpperInclusive ? 3 : 1;
  return isUpperInclusive ? 0 : 2;
};

const toHistogramJson = (nativeHistogram: NativeHistogram): Json => {
  const buckets = fromNative(nativeHistogram)
    .getAllBuckets()
    .filter(({ count }) => count !== 0)
    .map((bucket) => [
      getBoundaryCode(bucket),
      ...[bucket.lower, bucket.upper, bucket.count].map((value) => formatPrometheusNumber(value)),
    ]);
  return {
    count: formatPrometheusNumber(nativeHistogram.count),
    sum: formatPrometheusNumber(nativeHistogram.sum),
    ...(buckets.length > 0 && { buckets }),
  };
};

/**
 * Serializes times and values lazily, one series at a time, because the arrays of an entire result take several
 * times as much memory as its text.
 */
const toPointsJson = (times: Float64Array, toValueJson: (index: number) => unknown) => ({
  toJSON: () => Array.from(times, (time, index) => [time / 1000, toValueJson(index)]),
});

const toSeriesJson = ({ labels, times, values, histogramTimes, histograms }: MatrixSeries): Json => ({
  metric: labels,
  ...(times.length > 0 && {
    values: toPointsJson(times, (index) => formatPrometheusNumber(values[index] as number)),
  }),
  ...(histograms.length > 0 && {
    histograms: toPointsJson(histogramTimes, (index) => toHistogramJson(histograms[index] as NativeHistogram)),
  }),
});

/** Returns the first `limit` series of a result, and whether there are more. */
const takeFirst = <Item>(items: readonly Item[], limit: number): readonly [readonly Item[], boolean] =>
  items.length > limit ? [items.slice(0, limit), true] : [items, false];

/** Returns type and result of a result, with at most `limit` series. */
export const toResultJson = (
  promqlResult: PromqlResult,
  limit: number,
): { readonly data: { readonly resultType: string; readonly result: unknown }; readonly hasOmittedSeries: boolean } => {
  switch (promqlResult.type) {
    case 'vector': {
      const [elements, hasOmittedSeries] = takeFirst(promqlResult.elements, limit);
      const seconds = promqlResult.timeMs / 1000;
      const result = elements.map(({ labels, value }) =>
        typeof value === 'number'
          ? { metric: labels, value: [seconds, formatPrometheusNumber(value)] }
          : { metric: labels, histogram: [seconds, toHistogramJson(value)] },
      );
      return { data: { resultType: 'vector', result }, hasOmittedSeries };
    }
    case 'matrix': {
      const [series, hasOmittedSeries] = takeFirst(promqlResult.series, limit);
      return { data: { resultType: 'matrix', result: series.map(toSeriesJson) }, hasOmittedSeries };
    }
    case 'scalar':
      return {
        data: {
          resultType: 'scalar',
          result: [promqlResult.timeMs / 1000, formatPrometheusNumber(promqlResult.value)],
        },
        hasOmittedSeries: false,
      };
    default:
      return {
        data: { resultType: 'string', result: [promqlResult.timeMs / 1000, promqlResult.value] },
        hasOmittedSeries: false,
      };
  }
};
