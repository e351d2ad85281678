import { combine, HistogramSum, IncompatibleHistogramsError } from '../histograms/arithmetic.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { wasReset } from '../histograms/resets.ts';
import type { Evaluation } from './context.ts';
import { findFirstIndexAt, interpolateFloats, interpolateHistograms } from './interpolation.ts';
import type { RangeCall, Window } from './window.ts';

interface RateKind {
  readonly isCounter: boolean;
  readonly isPerSecond: boolean;
}

/** Samples at both ends of a range: the last one before it or the first one in it, and the last one. */
interface RangeEnds {
  readonly first: number;
  readonly last: number;
}

/** Returns undefined if no sample is in the range. */
const findEnds = (
  times: Float64Array,
  from: number,
  to: number,
  window: Window,
  call: RangeCall,
): RangeEnds | undefined => {
  const first = Math.max(from, findFirstIndexAt(times, window.rangeStart + 1, from, to - 1) - 1);
  const last = call.isSmoothed ? findFirstIndexAt(times, window.rangeEnd, from, to - 1) : to - 1;
  if ((times[last] as number) <= window.rangeStart) return undefined;
  return call.isSmoothed && (times[first] as number) > window.rangeEnd ? undefined : { first, last };
};

/** Returns the sum of a counter's decreases between points, which is added back. */
const sumDecreases = (points: readonly number[]): number => {
  let correction = 0;
  for (let index = 1; index < points.length; index++) {
    const previous = points[index - 1] as number;
    if ((points[index] as number) < previous) correction += previous;
  }
  return correction;
};

/** Returns the values at the ends of a range, read or interpolated, and those between. */
const readValues = (window: Window, call: RangeCall, isCounter: boolean, { first, last }: RangeEnds): number[] => {
  const { times, values, rangeStart, rangeEnd } = window;
  const getPoint = (index: number) => [times[index] as number, values[index] as number] as const;
  const startsBeforeRange = (times[first] as number) < rangeStart;
  const endsAfterRange = (times[last] as number) > rangeEnd;
  const left =
    call.isSmoothed && startsBeforeRange
      ? interpolateFloats(getPoint(first), getPoint(first + 1), rangeStart, isCounter)
      : window.value(first);
  const right =
    call.isSmoothed && endsAfterRange && last > window.from
      ? interpolateFloats(getPoint(last - 1), getPoint(last), rangeEnd, isCounter)
      : window.value(last);
  const innerValues = values.subarray(
    (times[first] as number) <= rangeStart ? first + 1 : first,
    (times[last] as number) >= rangeEnd ? last : last + 1,
  );
  return [left, ...innerValues, right];
};

/** `rate`, `increase` and `delta` of an `anchored` or `smoothed` range: from end to end, without extrapolation. */
export const computeExtendedRate = (window: Window, call: RangeCall, kind: RateKind): number | undefined => {
  const ends = findEnds(window.times, window.from, window.to, window, call);
  if (ends === undefined) return undefined;
  const points = readValues(window, call, kind.isCounter, ends);
  let increase = (points.at(-1) as number) - (points[0] as number);
  if (kind.isCounter) increase += sumDecreases(points);
  return kind.isPerSecond ? increase / (call.rangeMs / 1000) : increase;
};

/** As `computeExtendedRate`, for native histograms. */
export const computeExtendedHistogramRate = (
  window: Window,
  call: RangeCall,
  kind: RateKind,
): Histogram | undefined => {
  const ends = findEnds(window.histogramTimes, window.histogramFrom, window.histogramTo, window, call);
  if (ends === undefined) return undefined;
  try {
    return computeHistogramIncrease(window, call, kind, ends);
  } catch (error) {
    if (!(error instanceof IncompatibleHistogramsError)) throw error;
    call.annotations.addMixedSchemas(window.samples.name, call.position);
    return undefined;
  }
};

const computeHistogramIncrease = (
  window: Window,
  call: RangeCall,
  { isCounter, isPerSecond }: RateKind,
  ends: RangeEnds,
): Histogram => {
  const { annotations, position } = call;
  const histogramsInRange = window.histograms.slice(ends.first, ends.last + 1);
  for (const histogram of histogramsInRange) {
    if (histogram.isCustom !== histogramsInRange[0]?.isCustom) throw new IncompatibleHistogramsError();
    if (isCounter && histogram.hint === 'gauge') annotations.addNotCounter(window.samples.name, position);
  }
  const [left, right] = readEndHistograms(window, call, isCounter, ends);
  if (!isCounter && (left.hint !== 'gauge' || right.hint !== 'gauge'))
    annotations.addNotGauge(window.samples.name, position);
  const difference = combine(right, left, -1);
  if (difference.wereBoundsReconciled) annotations.addReconciled('subtraction', position);
  let { result } = difference;
  const countsBeforeResets = isCounter ? sumCountsBeforeResets(window, call, ends, left, right) : undefined;
  if (countsBeforeResets !== undefined) {
    const sum = combine(result, countsBeforeResets, 1);
    if (sum.wereBoundsReconciled) annotations.addReconciled('addition', position);
    ({ result } = sum);
  }
  if (isPerSecond) result.divide(call.rangeMs / 1000);
  return result.withHint('gauge').compact();
};

const readEndHistograms = (
  window: Window,
  call: RangeCall,
  isCounter: boolean,
  ends: RangeEnds,
): [Histogram, Histogram] => {
  const { first, last } = ends;
  const getPoint = (index: number) => [window.histogramTime(index), window.histogram(index)] as const;
  const evaluation = { annotations: call.annotations } as Evaluation;
  const interpolate = (index: number, timeMs: number) =>
    interpolateHistograms(evaluation, getPoint(index), getPoint(index + 1), timeMs, isCounter, call.position);
  const isStartInterpolated = call.isSmoothed && window.histogramTime(first) < window.rangeStart;
  const isEndInterpolated =
    call.isSmoothed && window.histogramTime(last) > window.rangeEnd && last > window.histogramFrom;
  return [
    isStartInterpolated ? interpolate(first, window.rangeStart) : window.histogram(first),
    isEndInterpolated ? interpolate(last - 1, window.rangeEnd) : window.histogram(last),
  ];
};

/** Returns the counts before resets between both ends; undefined if there were none. */
const sumCountsBeforeResets = (
  window: Window,
  call: RangeCall,
  { first, last }: RangeEnds,
  left: Histogram,
  right: Histogram,
): Histogram | undefined => {
  let next = first + 1;
  let previous = left;
  // Interpolation at the left end already accounts for a reset there.
  const isResetInterpolated =
    call.isSmoothed &&
    window.histogramTime(first) < window.rangeStart &&
    wasReset(window.histogram(first + 1), window.histogram(first));
  if (isResetInterpolated) {
    previous = window.histogram(first + 1);
    next++;
  }
  if (next > last) return undefined;
  let lostCounts: HistogramSum | undefined;
  const add = (histogram: Histogram) => {
    if (lostCounts === undefined) lostCounts = new HistogramSum(histogram);
    else if (lostCounts.add(histogram).wereBoundsReconciled) call.annotations.addReconciled('addition', call.position);
  };
  for (let index = next; index < last; index++) {
    if (wasReset(window.histogram(index), previous)) add(previous);
    previous = window.histogram(index);
  }
  if (wasReset(right, previous)) add(previous);
  return lostCounts?.value(false);
};
