/** Serializes answers in the format of `/api/v1/query` and `/api/v1/query_range` of Prometheus. */
import type { Answer, MatrixSeries } from './engine/result.ts';
import { numberText } from './fetch/numbers.ts';
import { type Bucket, histogramFrom } from './histograms/histogram.ts';
import type { NativeHistogram } from './series.ts';

type Json = Readonly<Record<string, unknown>>;

/** Returns the boundary code of a bucket: upper bound inclusive, lower inclusive, neither, both. */
const endsOf = ({ lowerInclusive, upperInclusive }: Bucket): number => {
  if (lowerInclusive) return upperInclusive ? 3 : 1;
  return upperInclusive ? 0 : 2;
};

const histogramJson = (native: NativeHistogram): Json => {
  const buckets = histogramFrom(native)
    .all()
    .filter(({ count }) => count !== 0)
    .map((bucket) => [endsOf(bucket), ...[bucket.lower, bucket.upper, bucket.count].map((value) => numberText(value))]);
  return {
    count: numberText(native.count),
    sum: numberText(native.sum),
    ...(buckets.length > 0 && { buckets }),
  };
};

/**
 * Serializes times and values series by series, because arrays of an entire answer take several times the size of its
 * text.
 */
const pointsJson = (times: Float64Array, written: (at: number) => unknown) => ({
  toJSON: () => Array.from(times, (time, at) => [time / 1000, written(at)]),
});

const seriesJson = ({ labels, times, values, histogramTimes, histograms }: MatrixSeries): Json => ({
  metric: labels,
  ...(times.length > 0 && {
    values: pointsJson(times, (at) => numberText(values[at] as number)),
  }),
  ...(histograms.length > 0 && {
    histograms: pointsJson(histogramTimes, (at) => histogramJson(histograms[at] as NativeHistogram)),
  }),
});

/** Returns the first `limit` series of an answer, and whether there are more. */
const within = <Item>(items: readonly Item[], limit: number): readonly [readonly Item[], boolean] =>
  items.length > limit ? [items.slice(0, limit), true] : [items, false];

/** Returns type and result of an answer, with at most `limit` series. */
export const answerJson = (
  answer: Answer,
  limit: number,
): { readonly data: { readonly resultType: string; readonly result: unknown }; readonly isCut: boolean } => {
  switch (answer.type) {
    case 'vector': {
      const [elements, isCut] = within(answer.elements, limit);
      const timed = answer.timeMs / 1000;
      const result = elements.map(({ labels, value }) =>
        typeof value === 'number'
          ? { metric: labels, value: [timed, numberText(value)] }
          : { metric: labels, histogram: [timed, histogramJson(value)] },
      );
      return { data: { resultType: 'vector', result }, isCut };
    }
    case 'matrix': {
      const [series, isCut] = within(answer.series, limit);
      return { data: { resultType: 'matrix', result: series.map(seriesJson) }, isCut };
    }
    case 'scalar':
      return {
        data: { resultType: 'scalar', result: [answer.timeMs / 1000, numberText(answer.value)] },
        isCut: false,
      };
    default:
      return { data: { resultType: 'string', result: [answer.timeMs / 1000, answer.value] }, isCut: false };
  }
};
