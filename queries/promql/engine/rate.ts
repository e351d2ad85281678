import { combine, HistogramSum, IncompatibleHistogramsError, reduceSchema } from '../histograms/arithmetic.ts';
import { Histogram } from '../histograms/histogram.ts';
import { wasReset } from '../histograms/resets.ts';
import { computeExtendedHistogramRate, computeExtendedRate } from './extended-rate.ts';
import { hasOverlappingStart, type RangeCall, type RangeFunction, type Window, wasCounterReset } from './window.ts';

export interface RateKind {
  readonly isCounter: boolean;
  readonly isPerSecond: boolean;
}

/** Adds the counts before each reset to an increase, in the same order as Prometheus. */
const addCountsBeforeResets = (increase: number, window: Window, call: RangeCall): number => {
  if (call.usesStartTimes) return addResetsByStartTime(increase, window, call);
  const { decreases } = window.samples;
  let sum = increase;
  for (
    let decreaseIndex = findFirstDecrease(decreases, window.from);
    decreaseIndex < decreases.length;
    decreaseIndex++
  ) {
    const index = decreases[decreaseIndex] as number;
    if (index >= window.to) break;
    sum += window.value(index - 1);
  }
  return sum;
};

/** Returns the first decrease after an index. */
const findFirstDecrease = (falls: Int32Array, from: number): number => {
  let low = 0;
  let high = falls.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((falls[middle] as number) > from) high = middle;
    else low = middle + 1;
  }
  return low;
};

const addResetsByStartTime = (rise: number, window: Window, call: RangeCall): number => {
  let sum = rise;
  let hasWarned = false;
  for (let index = window.from + 1; index < window.to; index++) {
    const previousStart = window.start(index - 1);
    const previousTime = window.time(index - 1);
    if (!hasWarned && hasOverlappingStart(previousStart, previousTime, window.start(index))) {
      call.annotations.addOverlap(window.samples.name, call.position);
      hasWarned = true;
    }
    const hasDecreased = window.value(index) < window.value(index - 1);
    if (hasDecreased || wasCounterReset(previousStart, previousTime, window.start(index), window.time(index)))
      sum += window.value(index - 1);
  }
  return sum;
};

/** Input of the factor that extrapolates a difference between the first and the last sample to the range. */
interface Extent {
  readonly first: number;
  readonly last: number;
  readonly count: number;
  /** Start time of the counter, if it is within the range. */
  readonly start: number | undefined;
  /** First value of a counter. Together with the difference, it determines when the counter was 0; NaN for a gauge. */
  readonly value: number;
  readonly rise: number;
}

const computeExtrapolationFactor = (window: Window, call: RangeCall, kind: RateKind, extent: Extent): number => {
  const { first, last, count, start } = extent;
  const average = count > 1 ? (last - first) / 1000 / (count - 1) : 0;
  const threshold = average * 1.1;
  let interval = (last - first) / 1000;
  let toStart = (first - window.rangeStart) / 1000;
  let toEnd = (window.rangeEnd - last) / 1000;
  if (start !== undefined) {
    toStart = 0;
    interval = (last - start) / 1000;
  } else {
    if (toStart >= threshold) toStart = average / 2;
    // A counter cannot be negative: extrapolation stops where its line crosses 0.
    if (kind.isCounter && extent.rise > 0 && extent.value >= 0)
      toStart = Math.min(toStart, interval * (extent.value / extent.rise));
  }
  if (toEnd >= threshold) toEnd = average / 2;
  const factor = interval === 0 ? 1 : (interval + toStart + toEnd) / interval;
  return kind.isPerSecond ? factor / (call.rangeMs / 1000) : factor;
};

const getStartTimeInRange = (window: Window, start: number, first: number): number | undefined =>
  start !== 0 && start > window.rangeStart && start < first ? start : undefined;

const computeFloatRate = (window: Window, call: RangeCall, kind: RateKind): number | undefined => {
  const { from, to } = window;
  const first = window.time(from);
  const start =
    kind.isCounter && call.usesStartTimes ? getStartTimeInRange(window, window.start(from), first) : undefined;
  if (to - from < 2 && start === undefined) return undefined;
  let rise = window.value(to - 1) - window.value(from);
  if (kind.isCounter) rise = addCountsBeforeResets(rise, window, call);
  if (start !== undefined) rise += window.value(from);
  const extent = { first, last: window.time(to - 1), count: to - from, start, value: window.value(from), rise };
  return rise * computeExtrapolationFactor(window, call, kind, extent);
};

const computeHistogramRate = (window: Window, call: RangeCall, kind: RateKind): Histogram | undefined => {
  const { histogramFrom: from, histogramTo: to } = window;
  const first = window.histogramTime(from);
  const start =
    kind.isCounter && call.usesStartTimes ? getStartTimeInRange(window, window.histogramStart(from), first) : undefined;
  if (to - from < 2 && start === undefined) return undefined;
  const value = window.histogram(from);
  let rise = to - from > 1 ? tryHistogramIncrease(window, call, kind) : undefined;
  if (to - from > 1 && rise === undefined) return undefined;
  if (start !== undefined) rise = rise === undefined ? value.copy() : combine(rise, value, 1).result;
  const counts = { value: value.count, rise: rise?.count ?? 0 };
  const extent = { first, last: window.histogramTime(to - 1), count: to - from, start, ...counts };
  return rise?.scale(computeExtrapolationFactor(window, call, kind, extent));
};

const tryHistogramIncrease = (window: Window, call: RangeCall, kind: RateKind): Histogram | undefined => {
  try {
    return computeHistogramIncrease(window, call, kind);
  } catch (error) {
    if (!(error instanceof IncompatibleHistogramsError)) throw error;
    call.annotations.addMixedSchemas(window.samples.name, call.position);
    return undefined;
  }
};

const createEmptyHistogram = (template: Histogram): Histogram =>
  Object.assign(new Histogram(), { schema: template.schema, bounds: template.bounds });

const wasResetAt = (window: Window, call: RangeCall, index: number, previous: Histogram): boolean =>
  (call.usesStartTimes &&
    wasCounterReset(
      window.histogramStart(index - 1),
      window.histogramTime(index - 1),
      window.histogramStart(index),
      window.histogramTime(index),
    )) ||
  wasReset(window.histogram(index), previous);

const computeHistogramIncrease = (window: Window, call: RangeCall, kind: RateKind): Histogram => {
  const { histogramFrom: from, histogramTo: to, samples } = window;
  const first = window.histogram(from);
  const last = window.histogram(to - 1);
  const second = window.histogram(from + 1);
  const histogramsInRange = window.histograms.slice(from, to);
  if (kind.isCounter && histogramsInRange.some(({ hint }) => hint === 'gauge'))
    call.annotations.addNotCounter(samples.name, call.position);
  // After a reset between the first two samples, the first has no effect, not even its layout.
  const baseHistogram =
    kind.isCounter && wasResetAt(window, call, from + 1, first) ? createEmptyHistogram(second) : first;
  if (last.isCustom !== baseHistogram.isCustom) throw new IncompatibleHistogramsError();
  const innerHistograms = kind.isCounter ? histogramsInRange.slice(1, -1) : [];
  if (innerHistograms.some(({ isCustom }) => isCustom !== baseHistogram.isCustom))
    throw new IncompatibleHistogramsError();
  const schema = Math.min(last.schema, baseHistogram.schema, ...innerHistograms.map((histogram) => histogram.schema));
  const sum = new HistogramSum(last.isCustom ? last : reduceSchema(last, schema));
  if (sum.add(baseHistogram, -1).wereBoundsReconciled) call.annotations.addReconciled('subtraction', call.position);
  if (kind.isCounter) addResets(window, call, baseHistogram, sum);
  else if (first.hint !== 'gauge' || last.hint !== 'gauge') call.annotations.addNotGauge(samples.name, call.position);
  return sum.value(false).withHint('gauge').compact();
};

const addResets = (window: Window, call: RangeCall, baseHistogram: Histogram, sum: HistogramSum): void => {
  let previous = baseHistogram;
  let hasWarned = !call.usesStartTimes;
  for (let index = window.histogramFrom + 1; index < window.histogramTo; index++) {
    const previousTime = window.histogramTime(index - 1);
    if (
      !hasWarned &&
      hasOverlappingStart(window.histogramStart(index - 1), previousTime, window.histogramStart(index))
    ) {
      call.annotations.addOverlap(window.samples.name, call.position);
      hasWarned = true;
    }
    if (wasResetAt(window, call, index, previous) && sum.add(previous).wereBoundsReconciled)
      call.annotations.addReconciled('addition', call.position);
    previous = window.histogram(index);
  }
};

const createRateFunction =
  (kind: RateKind): RangeFunction =>
  (window, call) => {
    if (window.floatCount > 0 && window.histogramCount > 0) {
      call.annotations.addMixedFloatsHistograms(window.samples.name, call.position);
      return undefined;
    }
    const isExtended = call.isAnchored || call.isSmoothed;
    if (window.histogramCount > 0)
      return isExtended ? computeExtendedHistogramRate(window, call, kind) : computeHistogramRate(window, call, kind);
    return isExtended ? computeExtendedRate(window, call, kind) : computeFloatRate(window, call, kind);
  };

/** `rate`, `increase` and `delta`: the difference over a range, extrapolated to its ends. */
export const rates: Readonly<Record<string, RangeFunction>> = {
  rate: createRateFunction({ isCounter: true, isPerSecond: true }),
  increase: createRateFunction({ isCounter: true, isPerSecond: false }),
  delta: createRateFunction({ isCounter: false, isPerSecond: false }),
};
