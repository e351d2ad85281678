import { HistogramSum, IncompatibleHistogramsError } from '../histograms/arithmetic.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { KahanSum } from '../histograms/kahan.ts';
import { FloatMean } from './float-mean.ts';
import { HistogramMean } from './histogram-mean.ts';
import { computeValuesQuantile } from './quantile.ts';
import type { RangeCall, RangeFunction, Window } from './window.ts';

/** Builds a function that uses only floats; histograms in the range cause an annotation. */
const createFloatFunction =
  (calculate: (window: Window, call: RangeCall) => number): RangeFunction =>
  (window, call) => {
    if (window.floatCount === 0) return undefined;
    if (window.histogramCount > 0) call.annotations.addIgnoredInRange(window.samples.name, call.position);
    return calculate(window, call);
  };

const sumHistograms = (window: Window, call: RangeCall): Histogram => {
  const sum = new HistogramSum(window.histogram(window.histogramFrom));
  for (let index = window.histogramFrom + 1; index < window.histogramTo; index++)
    if (sum.add(window.histogram(index)).wereBoundsReconciled)
      call.annotations.addReconciled('aggregation', call.position);
  return sum.value();
};

const averageHistograms = (window: Window, call: RangeCall): Histogram => {
  const mean = new HistogramMean(window.histogram(window.histogramFrom));
  for (let index = window.histogramFrom + 1; index < window.histogramTo; index++)
    if (mean.add(window.histogram(index)).wereBoundsReconciled)
      call.annotations.addReconciled('aggregation', call.position);
  return mean.value();
};

const createFloatOrHistogramFunction =
  (floats: (window: Window) => number, histograms: (window: Window, call: RangeCall) => Histogram): RangeFunction =>
  (window, call) => {
    const { annotations, position } = call;
    if (window.histogramCount === 0) return floats(window);
    if (window.floatCount > 0) {
      annotations.addMixedFloatsHistograms(window.samples.name, position);
      return undefined;
    }
    try {
      const result = histograms(window, call);
      const hints = window.histograms.slice(window.histogramFrom, window.histogramTo).map(({ hint }) => hint);
      if (hints.includes('reset') && hints.includes('not-reset'))
        annotations.addResetCollision('aggregation', position);
      return result;
    } catch (error) {
      if (!(error instanceof IncompatibleHistogramsError)) throw error;
      annotations.addMixedSchemas(window.samples.name, position);
      return undefined;
    }
  };

const sumFloats = (window: Window): number => {
  const sum = new KahanSum();
  for (let index = window.from; index < window.to; index++) sum.add(window.value(index));
  return Math.abs(sum.sum) === Number.POSITIVE_INFINITY ? sum.sum : sum.total;
};

/** Returns the mean if the sum would be infinite. */
const computeIncrementalMean = (window: Window): number => {
  const mean = new FloatMean(window.value(window.from));
  for (let index = window.from + 1; index < window.to; index++) mean.add(window.value(index));
  return mean.value;
};

/** Sums in local variables, because this runs for every sample of every step. */
const averageFloats = (window: Window): number => {
  const { values, from, to } = window;
  let sum = values[from] as number;
  let compensation = 0;
  for (let index = from + 1; index < to; index++) {
    const value = values[index] as number;
    const total = sum + value;
    if (total === Number.POSITIVE_INFINITY || total === Number.NEGATIVE_INFINITY) return computeIncrementalMean(window);
    compensation += Math.abs(sum) >= Math.abs(value) ? sum - total + value : value - total + sum;
    sum = total;
  }
  return sum / (to - from) + compensation / (to - from);
};

const computeVariance = (window: Window): number => {
  const mean = new KahanSum();
  const squares = new KahanSum();
  let count = 0;
  for (let index = window.from; index < window.to; index++) {
    const value = window.value(index);
    count++;
    const delta = value - mean.total;
    mean.add(delta / count);
    squares.add(delta * (value - mean.total));
  }
  return squares.total / count;
};

/** Returns the index of the best value; NaN is worse than any. */
const findBestIndex = (window: Window, isBetter: (value: number, best: number) => boolean): number => {
  let best = window.from;
  for (let index = window.from; index < window.to; index++)
    if (isBetter(window.value(index), window.value(best)) || Number.isNaN(window.value(best))) best = index;
  return best;
};

const getValues = (window: Window): number[] => Array.from(window.values.subarray(window.from, window.to));

const computeMedianDeviation = (window: Window): number => {
  const values = getValues(window);
  if (values.some(Number.isNaN)) return Number.NaN;
  const median = computeValuesQuantile(0.5, values);
  return computeValuesQuantile(
    0.5,
    values.map((value) => Math.abs(value - median)),
  );
};

const getFirstValue: RangeFunction = (window) => {
  const { from, histogramFrom } = window;
  if (window.histogramCount === 0) return window.value(from);
  return window.floatCount > 0 && window.time(from) < window.histogramTime(histogramFrom)
    ? window.value(from)
    : window.histogram(histogramFrom);
};

const getLastValue: RangeFunction = (window) => {
  const float = window.to - 1;
  const histogram = window.histogramTo - 1;
  if (window.histogramCount === 0) return window.value(float);
  return window.floatCount > 0 && window.histogramTime(histogram) < window.time(float)
    ? window.value(float)
    : window.histogram(histogram);
};

const getFirstTime: RangeFunction = (window) => {
  const floats = window.floatCount > 0 ? window.time(window.from) : Number.POSITIVE_INFINITY;
  const histograms = window.histogramCount > 0 ? window.histogramTime(window.histogramFrom) : Number.POSITIVE_INFINITY;
  return Math.min(floats, histograms) / 1000;
};

const getLastTime: RangeFunction = (window) => {
  const floats = window.floatCount > 0 ? window.time(window.to - 1) : 0;
  const histograms = window.histogramCount > 0 ? window.histogramTime(window.histogramTo - 1) : 0;
  return Math.max(floats, histograms) / 1000;
};

const quantile: RangeFunction = (window, call) => {
  const [quantileValue = Number.NaN] = window.args;
  if (window.floatCount === 0) return undefined;
  if (!(quantileValue >= 0 && quantileValue <= 1)) call.annotations.addInvalidQuantile(quantileValue, call.position);
  if (window.histogramCount > 0) call.annotations.addIgnoredInRange(window.samples.name, call.position);
  return computeValuesQuantile(quantileValue, getValues(window));
};

/** Functions that aggregate a range: `…_over_time`. */
export const overTimeFunctions: Readonly<Record<string, RangeFunction>> = {
  sum_over_time: createFloatOrHistogramFunction(sumFloats, sumHistograms),
  avg_over_time: createFloatOrHistogramFunction(averageFloats, averageHistograms),
  count_over_time: (window) => window.floatCount + window.histogramCount,
  present_over_time: () => 1,
  absent_over_time: () => 1,
  first_over_time: getFirstValue,
  last_over_time: getLastValue,
  ts_of_first_over_time: getFirstTime,
  ts_of_last_over_time: getLastTime,
  max_over_time: createFloatFunction((window) => window.value(findBestIndex(window, (value, best) => value > best))),
  min_over_time: createFloatFunction((window) => window.value(findBestIndex(window, (value, best) => value < best))),
  ts_of_max_over_time: createFloatFunction(
    (window) => window.time(findBestIndex(window, (value, best) => value >= best)) / 1000,
  ),
  ts_of_min_over_time: createFloatFunction(
    (window) => window.time(findBestIndex(window, (value, best) => value <= best)) / 1000,
  ),
  stddev_over_time: createFloatFunction((window) => Math.sqrt(computeVariance(window))),
  stdvar_over_time: createFloatFunction(computeVariance),
  mad_over_time: createFloatFunction(computeMedianDeviation),
  quantile_over_time: quantile,
};
