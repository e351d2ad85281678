import { combine, HistogramSum, IncompatibleHistograms } from '../histograms/arithmetic.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { wasReset } from '../histograms/resets.ts';
import type { Evaluation } from './context.ts';
import { findFirstIndexAt, interpolateFloats, interpolateHistograms } from './smoothing.ts';
import type { RangeCall, Window } from './window.ts';

interface RateKind {
  readonly counter: boolean;
  readonly perSecond: boolean;
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
  const last = call.smoothed ? findFirstIndexAt(times, window.rangeEnd, from, to - 1) : to - 1;
  if ((times[last] as number) <= window.rangeStart) return undefined;
  return call.smoothed && (times[first] as number) > window.rangeEnd ? undefined : { first, last };
};

/** Returns the sum of a counter's decreases between points, which is added back. */
const sumDecreases = (points: readonly number[]): number => {
  let correction = 0;
  for (let at = 1; at < points.length; at++) {
    const previous = points[at - 1] as number;
    if ((points[at] as number) < previous) correction += previous;
  }
  return correction;
};

/** Returns the values at the ends of a range, read or interpolated, and those between. */
const readValues = (window: Window, call: RangeCall, counter: boolean, { first, last }: RangeEnds): number[] => {
  const { times, values, rangeStart, rangeEnd } = window;
  const point = (place: number) => [times[place] as number, values[place] as number] as const;
  const startsBeforeRange = (times[first] as number) < rangeStart;
  const endsAfterRange = (times[last] as number) > rangeEnd;
  const left =
    call.smoothed && startsBeforeRange
      ? interpolateFloats(point(first), point(first + 1), rangeStart, counter)
      : window.value(first);
  const right =
    call.smoothed && endsAfterRange && last > window.from
      ? interpolateFloats(point(last - 1), point(last), rangeEnd, counter)
      : window.value(last);
  const inside = values.subarray(
    (times[first] as number) <= rangeStart ? first + 1 : first,
    (times[last] as number) >= rangeEnd ? last : last + 1,
  );
  return [left, ...inside, right];
};

/** `rate`, `increase` and `delta` of an `anchored` or `smoothed` range: from end to end, without extrapolation. */
export const computeExtendedRate = (window: Window, call: RangeCall, kind: RateKind): number | undefined => {
  const ends = findEnds(window.times, window.from, window.to, window, call);
  if (ends === undefined) return undefined;
  const points = readValues(window, call, kind.counter, ends);
  let increase = (points.at(-1) as number) - (points[0] as number);
  if (kind.counter) increase += sumDecreases(points);
  return kind.perSecond ? increase / (call.rangeMs / 1000) : increase;
};

/** As `computeExtendedRate`, for native histograms. */
export const extendedHistogramRate = (window: Window, call: RangeCall, kind: RateKind): Histogram | undefined => {
  const ends = findEnds(window.histogramTimes, window.histogramFrom, window.histogramTo, window, call);
  if (ends === undefined) return undefined;
  try {
    return computeHistogramIncrease(window, call, kind, ends);
  } catch (error) {
    if (!(error instanceof IncompatibleHistograms)) throw error;
    call.annotations.mixedSchemas(window.samples.name, call.place);
    return undefined;
  }
};

const computeHistogramIncrease = (
  window: Window,
  call: RangeCall,
  { counter, perSecond }: RateKind,
  ends: RangeEnds,
): Histogram => {
  const { annotations, place } = call;
  const inRange = window.histograms.slice(ends.first, ends.last + 1);
  for (const each of inRange) {
    if (each.custom !== inRange[0]?.custom) throw new IncompatibleHistograms();
    if (counter && each.hint === 'gauge') annotations.notCounter(window.samples.name, place);
  }
  const [left, right] = readEndHistograms(window, call, counter, ends);
  if (!counter && (left.hint !== 'gauge' || right.hint !== 'gauge')) annotations.notGauge(window.samples.name, place);
  const difference = combine(right, left, -1);
  if (difference.reconciled) annotations.reconciled('subtraction', place);
  let { result } = difference;
  const lost = counter ? sumCountsBeforeResets(window, call, ends, left, right) : undefined;
  if (lost !== undefined) {
    const sum = combine(result, lost, 1);
    if (sum.reconciled) annotations.reconciled('addition', place);
    ({ result } = sum);
  }
  if (perSecond) result.divide(call.rangeMs / 1000);
  return result.withHint('gauge').compact();
};

const readEndHistograms = (
  window: Window,
  call: RangeCall,
  counter: boolean,
  ends: RangeEnds,
): [Histogram, Histogram] => {
  const { first, last } = ends;
  const point = (at: number) => [window.histogramTime(at), window.histogram(at)] as const;
  const evaluation = { annotations: call.annotations } as Evaluation;
  const interpolate = (at: number, timeMs: number) =>
    interpolateHistograms(evaluation, point(at), point(at + 1), timeMs, counter, call.place);
  const before = call.smoothed && window.histogramTime(first) < window.rangeStart;
  const behind = call.smoothed && window.histogramTime(last) > window.rangeEnd && last > window.histogramFrom;
  return [
    before ? interpolate(first, window.rangeStart) : window.histogram(first),
    behind ? interpolate(last - 1, window.rangeEnd) : window.histogram(last),
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
    call.smoothed &&
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
    else if (lostCounts.add(histogram).reconciled) call.annotations.reconciled('addition', call.place);
  };
  for (let at = next; at < last; at++) {
    if (wasReset(window.histogram(at), previous)) add(previous);
    previous = window.histogram(at);
  }
  if (wasReset(right, previous)) add(previous);
  return lostCounts?.value(false);
};
