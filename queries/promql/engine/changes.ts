import { combine, IncompatibleHistograms } from '../histograms/arithmetic.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { wasReset } from '../histograms/resets.ts';
import { type RangeCall, type RangeFunction, type Window, wasCounterReset } from './window.ts';

/** A sample of a window, float or histogram. */
interface Sample {
  readonly time: number;
  readonly value: number | Histogram;
  readonly start: number;
}

const floatSample = (window: Window, index: number, call: RangeCall): Sample => ({
  time: window.time(index),
  value: window.value(index),
  start: call.startTimes ? window.start(index) : 0,
});

const histogramSample = (window: Window, place: number, call: RangeCall): Sample => ({
  time: window.histogramTime(place),
  value: window.histogram(place),
  start: call.startTimes ? window.histogramStart(place) : 0,
});

/** Yields floats and histograms in the order of time, from two indexes on. */
function* iterateSamples(window: Window, call: RangeCall, float: number, histogram: number): Generator<Sample> {
  let nextFloat = float;
  let nextHistogram = histogram;
  while (nextFloat < window.to || nextHistogram < window.histogramTo) {
    const floatFirst =
      nextHistogram >= window.histogramTo ||
      (nextFloat < window.to && window.time(nextFloat) < window.histogramTime(nextHistogram));
    yield floatFirst ? floatSample(window, nextFloat++, call) : histogramSample(window, nextHistogram++, call);
  }
}

/**
 * Returns the indexes of the first float and the first histogram. For an `anchored` range, this includes the last
 * sample before the range. Undefined if no sample is in the range.
 */
const findFirstIndexes = (window: Window, call: RangeCall): readonly [number, number] | undefined => {
  if (!call.anchored) return [window.from, window.histogramFrom];
  const lastIndexBeforeRange = (times: Float64Array, from: number, to: number) => {
    let place = from;
    while (place < to && (times[place] as number) <= window.rangeStart) place++;
    return place - 1;
  };
  const float = lastIndexBeforeRange(window.times, window.from, window.to);
  const histogram = lastIndexBeforeRange(window.histogramTimes, window.histogramFrom, window.histogramTo);
  if (float + 1 >= window.to && histogram + 1 >= window.histogramTo) return undefined;
  const hasFloat = float >= window.from;
  const hasHistogram = histogram >= window.histogramFrom;
  if (!hasFloat && !hasHistogram) return [window.from, window.histogramFrom];
  return !hasHistogram || (hasFloat && window.time(float) >= window.histogramTime(histogram))
    ? [float, histogram + 1]
    : [float + 1, histogram];
};

const countPairs =
  (isCounted: (previous: Sample, sample: Sample) => boolean): RangeFunction =>
  (window, call) => {
    const firsts = findFirstIndexes(window, call);
    if (firsts === undefined) return undefined;
    let count = 0;
    let previous: Sample | undefined;
    for (const sample of iterateSamples(window, call, ...firsts)) {
      if (previous !== undefined && isCounted(previous, sample)) count++;
      previous = sample;
    }
    return count;
  };

const wasResetBetween = (previous: Sample, sample: Sample): boolean => {
  const before = previous.value;
  const { value } = sample;
  if (typeof before !== typeof value) return true;
  if (wasCounterReset(previous.start, previous.time, sample.start, sample.time)) return true;
  return typeof before === 'number' || typeof value === 'number' ? value < before : wasReset(value, before);
};

const hasChanged = ({ value: before }: Sample, { value }: Sample): boolean => {
  if (typeof before === 'number' || typeof value === 'number')
    return value !== before && !(Number.isNaN(value) && Number.isNaN(before));
  return !value.equals(before);
};

/** Returns the last two samples in the order of time. */
const lastTwo = (window: Window, call: RangeCall): readonly [Sample, Sample] | undefined => {
  if (window.floatCount + window.histogramCount < 2) return undefined;
  const float = Math.max(window.from, window.to - 2);
  const histogram = Math.max(window.histogramFrom, window.histogramTo - 2);
  const [last, before] = [...iterateSamples(window, call, float, histogram)].reverse();
  return last === undefined || before === undefined ? undefined : [before, last];
};

const subtractHistograms = (
  window: Window,
  call: RangeCall,
  [before, last]: readonly [Sample, Sample],
  counter: boolean,
): Histogram => {
  const value = last.value as Histogram;
  const previous = before.value as Histogram;
  const { annotations, place } = call;
  const gauges = [value, previous].filter(({ hint }) => hint === 'gauge').length;
  if (counter && gauges > 0) annotations.notCounter(window.samples.name, place);
  if (!counter && gauges < 2) annotations.notGauge(window.samples.name, place);
  if (counter && wasResetBetween(before, last)) return value.copy().withHint('gauge').compact();
  const difference = combine(value, previous, -1);
  if (difference.reconciled) annotations.reconciled('subtraction', place);
  return difference.result.withHint('gauge').compact();
};

const compareLastTwo =
  (counter: boolean): RangeFunction =>
  (window, call) => {
    const pair = lastTwo(window, call);
    if (pair === undefined) return undefined;
    const [before, last] = pair;
    const seconds = (last.time - before.time) / 1000;
    if (seconds === 0) return undefined;
    if (typeof last.value === typeof before.value)
      return typeof last.value === 'number'
        ? floatChange(pair, counter, seconds)
        : histogramChangePerSecond(window, call, pair, counter, seconds);
    call.annotations.addMixedFloatsHistograms(window.samples.name, call.place);
    return undefined;
  };

const floatChange = ([before, last]: readonly [Sample, Sample], counter: boolean, seconds: number): number => {
  const value = last.value as number;
  const change = counter && wasResetBetween(before, last) ? value : value - (before.value as number);
  return counter ? change / seconds : change;
};

const histogramChangePerSecond = (
  window: Window,
  call: RangeCall,
  pair: readonly [Sample, Sample],
  counter: boolean,
  seconds: number,
): Histogram | undefined => {
  try {
    const change = subtractHistograms(window, call, pair, counter);
    return counter ? change.divide(seconds) : change;
  } catch (error) {
    if (!(error instanceof IncompatibleHistograms)) throw error;
    call.annotations.mixedSchemas(window.samples.name, call.place);
    return undefined;
  }
};

/** Functions that compare samples with previous ones. */
export const changeFunctions: Readonly<Record<string, RangeFunction>> = {
  resets: countPairs(wasResetBetween),
  changes: countPairs(hasChanged),
  irate: compareLastTwo(true),
  idelta: compareLastTwo(false),
};
