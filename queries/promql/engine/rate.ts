import { combine, HistogramSum, IncompatibleHistograms, reduceSchema } from '../histograms/arithmetic.ts';
import { Histogram } from '../histograms/histogram.ts';
import { wasReset } from '../histograms/resets.ts';
import { computeExtendedRate, extendedHistogramRate } from './extended-rate.ts';
import { hasOverlappingStart, type RangeCall, type RangeFunction, type Window, wasCounterReset } from './window.ts';

export interface RateKind {
  readonly counter: boolean;
  readonly perSecond: boolean;
}

/** Returns an increase plus the counts before each reset, added in sequence like Prometheus. */
const addCountsBeforeResets = (increase: number, window: Window, call: RangeCall): number => {
  if (call.startTimes) return addResetsByStartTime(increase, window, call);
  const { decreases } = window.samples;
  let sum = increase;
  for (let at = findFirstDecrease(decreases, window.from); at < decreases.length; at++) {
    const place = decreases[at] as number;
    if (place >= window.to) break;
    sum += window.value(place - 1);
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
  let warned = false;
  for (let place = window.from + 1; place < window.to; place++) {
    const previousStart = window.start(place - 1);
    const previousTime = window.time(place - 1);
    if (!warned && hasOverlappingStart(previousStart, previousTime, window.start(place))) {
      call.annotations.overlap(window.samples.name, call.place);
      warned = true;
    }
    const fell = window.value(place) < window.value(place - 1);
    if (fell || wasCounterReset(previousStart, previousTime, window.start(place), window.time(place)))
      sum += window.value(place - 1);
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
  /** First value of a counter, which with the difference determines when it was 0; NaN for a gauge. */
  readonly value: number;
  readonly rise: number;
}

const extrapolationFactor = (window: Window, call: RangeCall, kind: RateKind, extent: Extent): number => {
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
    if (kind.counter && extent.rise > 0 && extent.value >= 0)
      toStart = Math.min(toStart, interval * (extent.value / extent.rise));
  }
  if (toEnd >= threshold) toEnd = average / 2;
  const factor = interval === 0 ? 1 : (interval + toStart + toEnd) / interval;
  return kind.perSecond ? factor / (call.rangeMs / 1000) : factor;
};

const startTimeInRange = (window: Window, start: number, first: number): number | undefined =>
  start !== 0 && start > window.rangeStart && start < first ? start : undefined;

const floatRate = (window: Window, call: RangeCall, kind: RateKind): number | undefined => {
  const { from, to } = window;
  const first = window.time(from);
  const start = kind.counter && call.startTimes ? startTimeInRange(window, window.start(from), first) : undefined;
  if (to - from < 2 && start === undefined) return undefined;
  let rise = window.value(to - 1) - window.value(from);
  if (kind.counter) rise = addCountsBeforeResets(rise, window, call);
  if (start !== undefined) rise += window.value(from);
  const extent = { first, last: window.time(to - 1), count: to - from, start, value: window.value(from), rise };
  return rise * extrapolationFactor(window, call, kind, extent);
};

const histogramRate = (window: Window, call: RangeCall, kind: RateKind): Histogram | undefined => {
  const { histogramFrom: from, histogramTo: to } = window;
  const first = window.histogramTime(from);
  const start =
    kind.counter && call.startTimes ? startTimeInRange(window, window.histogramStart(from), first) : undefined;
  if (to - from < 2 && start === undefined) return undefined;
  const value = window.histogram(from);
  let rise = to - from > 1 ? tryHistogramIncrease(window, call, kind) : undefined;
  if (to - from > 1 && rise === undefined) return undefined;
  if (start !== undefined) rise = rise === undefined ? value.copy() : combine(rise, value, 1).result;
  const counts = { value: value.count, rise: rise?.count ?? 0 };
  const extent = { first, last: window.histogramTime(to - 1), count: to - from, start, ...counts };
  return rise?.scale(extrapolationFactor(window, call, kind, extent));
};

const tryHistogramIncrease = (window: Window, call: RangeCall, kind: RateKind): Histogram | undefined => {
  try {
    return histogramIncrease(window, call, kind);
  } catch (error) {
    if (!(error instanceof IncompatibleHistograms)) throw error;
    call.annotations.mixedSchemas(window.samples.name, call.place);
    return undefined;
  }
};

const emptyLike = (like: Histogram): Histogram =>
  Object.assign(new Histogram(), { schema: like.schema, bounds: like.bounds });

const wasResetAt = (window: Window, call: RangeCall, place: number, previous: Histogram): boolean =>
  (call.startTimes &&
    wasCounterReset(
      window.histogramStart(place - 1),
      window.histogramTime(place - 1),
      window.histogramStart(place),
      window.histogramTime(place),
    )) ||
  wasReset(window.histogram(place), previous);

const histogramIncrease = (window: Window, call: RangeCall, kind: RateKind): Histogram => {
  const { histogramFrom: from, histogramTo: to, samples } = window;
  const first = window.histogram(from);
  const last = window.histogram(to - 1);
  const second = window.histogram(from + 1);
  const all = window.histograms.slice(from, to);
  if (kind.counter && all.some(({ hint }) => hint === 'gauge')) call.annotations.notCounter(samples.name, call.place);
  // After a reset between the first two samples, the first has no effect, not even its layout.
  const base = kind.counter && wasResetAt(window, call, from + 1, first) ? emptyLike(second) : first;
  if (last.custom !== base.custom) throw new IncompatibleHistograms();
  const between = kind.counter ? all.slice(1, -1) : [];
  if (between.some(({ custom }) => custom !== base.custom)) throw new IncompatibleHistograms();
  const schema = Math.min(last.schema, base.schema, ...between.map((each) => each.schema));
  const sum = new HistogramSum(last.custom ? last : reduceSchema(last, schema));
  if (sum.add(base, -1).reconciled) call.annotations.reconciled('subtraction', call.place);
  if (kind.counter) addResets(window, call, base, sum);
  else if (first.hint !== 'gauge' || last.hint !== 'gauge') call.annotations.notGauge(samples.name, call.place);
  return sum.value(false).withHint('gauge').compact();
};

const addResets = (window: Window, call: RangeCall, base: Histogram, sum: HistogramSum): void => {
  let previous = base;
  let warned = !call.startTimes;
  for (let place = window.histogramFrom + 1; place < window.histogramTo; place++) {
    const previousTime = window.histogramTime(place - 1);
    if (!warned && hasOverlappingStart(window.histogramStart(place - 1), previousTime, window.histogramStart(place))) {
      call.annotations.overlap(window.samples.name, call.place);
      warned = true;
    }
    if (wasResetAt(window, call, place, previous) && sum.add(previous).reconciled)
      call.annotations.reconciled('addition', call.place);
    previous = window.histogram(place);
  }
};

const createRateFunction =
  (kind: RateKind): RangeFunction =>
  (window, call) => {
    if (window.floatCount > 0 && window.histogramCount > 0) {
      call.annotations.addMixedFloatsHistograms(window.samples.name, call.place);
      return undefined;
    }
    const extended = call.anchored || call.smoothed;
    if (window.histogramCount > 0)
      return extended ? extendedHistogramRate(window, call, kind) : histogramRate(window, call, kind);
    return extended ? computeExtendedRate(window, call, kind) : floatRate(window, call, kind);
  };

/** `rate`, `increase` and `delta`: the difference over a range, extrapolated to its ends. */
export const rates: Readonly<Record<string, RangeFunction>> = {
  rate: createRateFunction({ counter: true, perSecond: true }),
  increase: createRateFunction({ counter: true, perSecond: false }),
  delta: createRateFunction({ counter: false, perSecond: false }),
};
