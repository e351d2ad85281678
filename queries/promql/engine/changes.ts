import { combine, IncompatibleHistogramsError } from '../histograms/arithmetic.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { wasReset } from '../histograms/resets.ts';
import { type RangeCall, type RangeFunction, type Window, wasCounterReset } from './window.ts';

/** A sample of a window, float or histogram. */
interface Sample {
  readonly time: number;
  readonly value: number | Histogram;
  readonly start: number;
}

const toFloatSample = (window: Window, index: number, call: RangeCall): Sample => ({
  time: window.time(index),
  value: window.value(index),
  start: call.usesStartTimes ? window.start(index) : 0,
});

const toHistogramSample = (window: Window, index: number, call: RangeCall): Sample => ({
  time: window.histogramTime(index),
  value: window.histogram(index),
  start: call.usesStartTimes ? window.histogramStart(index) : 0,
});

/** Yields floats and histograms in the order of time, each from a start index. */
function* iterateSamples(window: Window, call: RangeCall, float: number, histogram: number): Generator<Sample> {
  let nextFloat = float;
  let nextHistogram = histogram;
  while (nextFloat < window.to || nextHistogram < window.histogramTo) {
    const isFloatNext =
      nextHistogram >= window.histogramTo ||
      (nextFloat < window.to && window.time(nextFloat) < window.histogramTime(nextHistogram));
    yield isFloatNext ? toFloatSample(window, nextFloat++, call) : toHistogramSample(window, nextHistogram++, call);
  }
}

/**
 * Returns the indexes of the first float and the first histogram. For an `anchored` range, this includes the last
 * sample before the range. Undefined if no sample is in the range.
 */
const findFirstIndexes = (window: Window, call: RangeCall): readonly [number, number] | undefined => {
  if (!call.isAnchored) return [window.from, window.histogramFrom];
  const lastIndexBeforeRange = (times: Float64Array, from: number, to: number) => {
    let index = from;
    while (index < to && (times[index] as number) <= window.rangeStart) index++;
    return index - 1;
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
    const firstIndexes = findFirstIndexes(window, call);
    if (firstIndexes === undefined) return undefined;
    let count = 0;
    let previous: Sample | undefined;
    for (const sample of iterateSamples(window, call, ...firstIndexes)) {
      if (previous !== undefined && isCounted(previous, sample)) count++;
      previous = sample;
    }
    return count;
  };

const wasResetBetween = (previous: Sample, sample: Sample): boolean => {
  const previousValue = previous.value;
  const { value } = sample;
  if (typeof previousValue !== typeof value) return true;
  if (wasCounterReset(previous.start, previous.time, sample.start, sample.time)) return true;
  return typeof previousValue === 'number' || typeof value === 'number'
    ? value < previousValue
    : wasReset(value, previousValue);
};

const hasChanged = ({ value: previousValue }: Sample, { value }: Sample): boolean => {
  if (typeof previousValue === 'number' || typeof value === 'number')
    return value !== previousValue && !(Number.isNaN(value) && Number.isNaN(previousValue));
  return !value.equals(previousValue);
};

/** Returns the last two samples in the order of time. */
const getLastTwoSamples = (window: Window, call: RangeCall): readonly [Sample, Sample] | undefined => {
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
  isCounter: boolean,
): Histogram => {
  const value = last.value as Histogram;
  const previous = before.value as Histogram;
  const { annotations, position } = call;
  const gauges = [value, previous].filter(({ hint }) => hint === 'gauge').length;
  if (isCounter && gauges > 0) annotations.addNotCounter(window.samples.name, position);
  if (!isCounter && gauges < 2) annotations.addNotGauge(window.samples.name, position);
  if (isCounter && wasResetBetween(before, last)) return value.copy().withHint('gauge').compact();
  const difference = combine(value, previous, -1);
  if (difference.wereBoundsReconciled) annotations.addReconciled('subtraction', position);
  return difference.result.withHint('gauge').compact();
};

const compareLastTwo =
  (isCounter: boolean): RangeFunction =>
  (window, call) => {
    const pair = getLastTwoSamples(window, call);
    if (pair === undefined) return undefined;
    const [before, last] = pair;
    const seconds = (last.time - before.time) / 1000;
    if (seconds === 0) return undefined;
    if (typeof last.value === typeof before.value)
      return typeof last.value === 'number'
        ? computeFloatChange(pair, isCounter, seconds)
        : computeHistogramChange(window, call, pair, isCounter, seconds);
    call.annotations.addMixedFloatsHistograms(window.samples.name, call.position);
    return undefined;
  };

const computeFloatChange = ([before, last]: readonly [Sample, Sample], isCounter: boolean, seconds: number): number => {
  const value = last.value as number;
  const change = isCounter && wasResetBetween(before, last) ? value : value - (before.value as number);
  return isCounter ? change / seconds : change;
};

const computeHistogramChange = (
  window: Window,
  call: RangeCall,
  pair: readonly [Sample, Sample],
  isCounter: boolean,
  seconds: number,
): Histogram | undefined => {
  try {
    const change = subtractHistograms(window, call, pair, isCounter);
    return isCounter ? change.divide(seconds) : change;
  } catch (error) {
    if (!(error instanceof IncompatibleHistogramsError)) throw error;
    call.annotations.addMixedSchemas(window.samples.name, call.position);
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
