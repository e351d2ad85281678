/** Compares results with the expectations of a file, as strictly as the Prometheus test runner. */

import { compareLabels, LabelSet } from '../../../queries/promql/engine/labels.ts';
import type { PromqlResult } from '../../../queries/promql/engine/result.ts';
import { type Bucket, fromNative, type Histogram, toNative } from '../../../queries/promql/histograms/histogram.ts';
import { formatHistogram } from '../../../queries/promql/histograms/text.ts';
import type { Labels, NativeHistogram } from '../../../queries/promql/series.ts';
import type { Evaluation } from './commands.ts';
import type { Value } from './series-lines.ts';

/** A histogram as the HTTP API returns it: nonempty buckets, with inclusive or exclusive bounds. */
export interface JsonHistogram {
  readonly count: number;
  readonly sum: number;
  readonly buckets: readonly (readonly [ends: number, lower: number, upper: number, count: number])[];
}

type AnswerValue = number | NativeHistogram | JsonHistogram;
type Points = ReadonlyMap<number, AnswerValue>;

/** A result of the engine or of the HTTP API. */
export type ComparableAnswer =
  | { readonly type: 'vector'; readonly elements: readonly { readonly labels: Labels; readonly value: AnswerValue }[] }
  | { readonly type: 'matrix'; readonly series: readonly { readonly labels: Labels; readonly points: Points }[] }
  | { readonly type: 'scalar'; readonly value: number }
  | { readonly type: 'string'; readonly value: string };

const epsilon = 0.000001;
const smallest = 2 ** -1022;

const almost = (left: number, right: number): boolean => {
  if (left === right || (Number.isNaN(left) && Number.isNaN(right))) return true;
  const sum = Math.abs(left) + Math.abs(right);
  const difference = Math.abs(left - right);
  if (left === 0 || right === 0 || sum < smallest) return difference < epsilon * smallest;
  return difference / Math.min(sum, Number.MAX_VALUE) < epsilon;
};

const allAlmost = (left: readonly number[], right: readonly number[]): boolean =>
  left.length === right.length && left.every((value, at) => almost(value, right[at] as number));

const sameHistogram = (expected: Histogram, actual: Histogram, hasHint: boolean): boolean => {
  const expectedCompact = expected.copy().compact();
  const have = actual.copy().compact();
  return (
    expectedCompact.schema === have.schema &&
    almost(expectedCompact.count, have.count) &&
    almost(expectedCompact.sum, have.sum) &&
    expectedCompact.zeroThreshold === have.zeroThreshold &&
    almost(expectedCompact.zeroCount, have.zeroCount) &&
    (!expectedCompact.isCustom || allAlmost([...expectedCompact.bounds], [...have.bounds])) &&
    allAlmost(expectedCompact.positive.indexes, have.positive.indexes) &&
    allAlmost(expectedCompact.negative.indexes, have.negative.indexes) &&
    allAlmost(expectedCompact.positive.counts, have.positive.counts) &&
    allAlmost(expectedCompact.negative.counts, have.negative.counts) &&
    (!hasHint || expectedCompact.hint === have.hint)
  );
};

const endsOf = ({ isLowerInclusive, isUpperInclusive }: Bucket): number => {
  if (isLowerInclusive) return isUpperInclusive ? 3 : 1;
  return isUpperInclusive ? 0 : 2;
};

const sameJsonHistogram = (expected: Histogram, { count, sum, buckets }: JsonHistogram): boolean => {
  const expectedBuckets = expected.getAllBuckets().filter((bucket) => bucket.count !== 0);
  return (
    almost(expected.count, count) &&
    almost(expected.sum, sum) &&
    expectedBuckets.length === buckets.length &&
    buckets.every(([ends, ...numbers], at) => {
      const bucket = expectedBuckets[at] as Bucket;
      return ends === endsOf(bucket) && allAlmost([bucket.lower, bucket.upper, bucket.count], numbers);
    })
  );
};

const shown = (value: Value | AnswerValue): string => {
  if (typeof value !== 'object') return String(value);
  if ('buckets' in value) return JSON.stringify(value);
  const histogram = 'hasHint' in value ? value.histogram : fromNative(value);
  return `${formatHistogram(histogram)} ${JSON.stringify(toNative(histogram))}`;
};

const sameValue = (expected: Value, actual: AnswerValue): boolean => {
  if (typeof expected === 'object') {
    if (typeof actual !== 'object') return false;
    if ('buckets' in actual) return sameJsonHistogram(expected.histogram, actual);
    return sameHistogram(expected.histogram, fromNative(actual), expected.hasHint);
  }
  return typeof actual === 'number' && typeof expected === 'number' && almost(expected, actual);
};

const keyOf = (labels: Labels): string => {
  const set = LabelSet.from(labels);
  return String(set);
};

const pointsOf = ({
  times,
  values,
  histogramTimes,
  histograms,
}: (PromqlResult & { type: 'matrix' })['series'][number]): Points =>
  new Map<number, number | NativeHistogram>([
    ...Array.from(times, (time, at) => [time, values[at] as number] as const),
    ...Array.from(histogramTimes, (time, at) => [time, histograms[at] as NativeHistogram] as const),
  ]);

/** Converts a result of the engine. */
export const toComparableAnswer = (response: PromqlResult): ComparableAnswer =>
  response.type === 'matrix'
    ? { type: 'matrix', series: response.series.map((one) => ({ labels: one.labels, points: pointsOf(one) })) }
    : response;

const sortProblem = (series: readonly { labels: Labels }[]): string | undefined => {
  const wrong = series.findIndex(
    ({ labels }, at) =>
      at > 0 && compareLabels(LabelSet.from((series[at - 1] as { labels: Labels }).labels), LabelSet.from(labels)) > 0,
  );
  return wrong < 0 ? undefined : `series ${wrong} is not in the order of labels`;
};

const shownPoints = (points: Points): string =>
  [...points]
    .map(([time, value]) => `${time}:${shown(value)}`)
    .join(' ')
    .slice(0, 300);

const pointsProblem = (expected: Evaluation, values: readonly Value[], points: Points): string | undefined => {
  const left = new Map(points);
  for (const [at, value] of values.entries()) {
    const time = expected.startMs + at * expected.stepMs;
    if (value === undefined) continue;
    const actual = left.get(time);
    left.delete(time);
    if (actual === undefined || !sameValue(value, actual))
      return `at ${time}: expected ${shown(value)}, got ${actual === undefined ? 'nothing' : shown(actual)}`;
  }
  return left.size > 0 ? `points that are not expected: ${shownPoints(left)}` : undefined;
};

const matrixProblem = (expected: Evaluation, response: ComparableAnswer & { type: 'matrix' }): string | undefined => {
  const expectedSeries = new Map(expected.series.map(({ labels, values }) => [keyOf(labels), values]));
  for (const series of response.series) {
    const key = keyOf(series.labels);
    const values = expectedSeries.get(key);
    const { points } = series;
    if (values === undefined) return `unexpected series ${key}: ${shownPoints(points)}`;
    expectedSeries.delete(key);
    const problem = pointsProblem(expected, values, points);
    if (problem !== undefined) return `${key} ${problem}`;
  }
  return expectedSeries.size > 0 ? `missing: ${[...expectedSeries.keys()].join(' ')}` : sortProblem(response.series);
};

const vectorProblem = (
  expected: Evaluation,
  { elements }: ComparableAnswer & { type: 'vector' },
  ordered: boolean,
): string | undefined => {
  const places = new Map(expected.series.map(({ labels, values }, at) => [keyOf(labels), { at, value: values[0] }]));
  for (const [at, { labels, value }] of elements.entries()) {
    const key = keyOf(labels);
    const place = places.get(key);
    if (place === undefined) return `unexpected ${key} ${shown(value)}`;
    if (ordered && place.at !== at) return `${key} is at ${at}, not at ${place.at}`;
    if (!sameValue(place.value, value)) return `${key}: expected ${shown(place.value)}, got ${shown(value)}`;
    places.delete(key);
  }
  return places.size > 0 ? `missing: ${[...places.keys()].join(' ')}` : undefined;
};

/** Returns the difference between a result and its expectation; undefined if there is none. */
export const problemOf = (expected: Evaluation, response: ComparableAnswer): string | undefined => {
  const ordered = expected.expectations.some(({ of }) => of === 'ordered');
  switch (response.type) {
    case 'matrix':
      return matrixProblem(expected, response);
    case 'vector':
      if (expected.scalar !== undefined) return 'expected a scalar, got a vector';
      return vectorProblem(expected, response, ordered);
    case 'scalar':
      if (expected.scalar === undefined) return `expected no scalar, got ${response.value}`;
      return sameValue(expected.scalar, response.value)
        ? undefined
        : `expected ${expected.scalar}, got ${response.value}`;
    default:
      return (expected.text ?? '') === response.value
        ? undefined
        : `expected "${expected.text}", got "${response.value}"`;
  }
};

/** Returns the elements of a range result at one time. */
export const atTime = (response: ComparableAnswer, timeMs: number, scalar: boolean): ComparableAnswer => {
  if (response.type !== 'matrix') return response;
  const elements = response.series.flatMap(({ labels, points }) => {
    const value = points.get(timeMs);
    return value === undefined ? [] : [{ labels, value }];
  });
  return scalar ? { type: 'scalar', value: elements[0]?.value as number } : { type: 'vector', elements };
};
