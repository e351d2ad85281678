import { HistogramSum, IncompatibleHistograms } from '../histograms/arithmetic.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { KahanSum } from '../histograms/kahan.ts';
import { FloatMean } from './float-mean.ts';
import { HistogramMean } from './histogram-mean.ts';
import { computeValuesQuantile } from './quantile.ts';
import type { RangeCall, RangeFunction, Window } from './window.ts';

/** Builds a function that uses only floats; histograms in the range cause an annotation. */
const forFloatsOnly =
  (calculate: (window: Window, call: RangeCall) => number): RangeFunction =>
  (window, call) => {
    if (window.floatCount === 0) return undefined;
    if (window.histogramCount > 0) call.annotations.ignoredInRange(window.samples.name, call.place);
    return calculate(window, call);
  };

const sumHistograms = (window: Window, call: RangeCall): Histogram => {
  const sum = new HistogramSum(window.histogram(window.histogramFrom));
  for (let place = window.histogramFrom + 1; place < window.histogramTo; place++)
    if (sum.add(window.histogram(place)).reconciled) call.annotations.reconciled('aggregation', call.place);
  return sum.value();
};

const averageHistograms = (window: Window, call: RangeCall): Histogram => {
  const mean = new HistogramMean(window.histogram(window.histogramFrom));
  for (let place = window.histogramFrom + 1; place < window.histogramTo; place++)
    if (mean.add(window.histogram(place)).reconciled) call.annotations.reconciled('aggregation', call.place);
  return mean.value();
};

const forFloatsOrHistograms =
  (floats: (window: Window) => number, histograms: (window: Window, call: RangeCall) => Histogram): RangeFunction =>
  (window, call) => {
    const { annotations, place } = call;
    if (window.histogramCount === 0) return floats(window);
    if (window.floatCount > 0) {
      annotations.addMixedFloatsHistograms(window.samples.name, place);
      return undefined;
    }
    try {
      const result = histograms(window, call);
      const hints = window.histograms.slice(window.histogramFrom, window.histogramTo).map(({ hint }) => hint);
      if (hints.includes('reset') && hints.includes('not-reset')) annotations.addResetCollision('aggregation', place);
      return result;
    } catch (error) {
      if (!(error instanceof IncompatibleHistograms)) throw error;
      annotations.mixedSchemas(window.samples.name, place);
      return undefined;
    }
  };

const sumFloats = (window: Window): number => {
  const sum = new KahanSum();
  for (let place = window.from; place < window.to; place++) sum.add(window.value(place));
  return Math.abs(sum.sum) === Number.POSITIVE_INFINITY ? sum.sum : sum.total;
};

/** Returns the mean if the sum would be infinite. */
const incrementalMean = (window: Window): number => {
  const mean = new FloatMean(window.value(window.from));
  for (let place = window.from + 1; place < window.to; place++) mean.add(window.value(place));
  return mean.value;
};

/** Sums in local variables, because this runs for every sample of every step. */
const averageFloats = (window: Window): number => {
  const { values, from, to } = window;
  let sum = values[from] as number;
  let compensation = 0;
  for (let place = from + 1; place < to; place++) {
    const value = values[place] as number;
    const total = sum + value;
    if (total === Number.POSITIVE_INFINITY || total === Number.NEGATIVE_INFINITY) return incrementalMean(window);
    compensation += Math.abs(sum) >= Math.abs(value) ? sum - total + value : value - total + sum;
    sum = total;
  }
  return sum / (to - from) + compensation / (to - from);
};

const varianceOf = (window: Window): number => {
  const mean = new KahanSum();
  const squares = new KahanSum();
  let count = 0;
  for (let place = window.from; place < window.to; place++) {
    const value = window.value(place);
    count++;
    const delta = value - mean.total;
    mean.add(delta / count);
    squares.add(delta * (value - mean.total));
  }
  return squares.total / count;
};

/** Returns the index of the best value; NaN is worse than any. */
const findBestIndex = (window: Window, better: (value: number, best: number) => boolean): number => {
  let best = window.from;
  for (let place = window.from; place < window.to; place++)
    if (better(window.value(place), window.value(best)) || Number.isNaN(window.value(best))) best = place;
  return best;
};

const valuesOf = (window: Window): number[] => Array.from(window.values.subarray(window.from, window.to));

const medianDeviation = (window: Window): number => {
  const values = valuesOf(window);
  if (values.some(Number.isNaN)) return Number.NaN;
  const median = computeValuesQuantile(0.5, values);
  return computeValuesQuantile(
    0.5,
    values.map((value) => Math.abs(value - median)),
  );
};

const firstValue: RangeFunction = (window) => {
  const { from, histogramFrom } = window;
  if (window.histogramCount === 0) return window.value(from);
  return window.floatCount > 0 && window.time(from) < window.histogramTime(histogramFrom)
    ? window.value(from)
    : window.histogram(histogramFrom);
};

const lastValue: RangeFunction = (window) => {
  const float = window.to - 1;
  const histogram = window.histogramTo - 1;
  if (window.histogramCount === 0) return window.value(float);
  return window.floatCount > 0 && window.histogramTime(histogram) < window.time(float)
    ? window.value(float)
    : window.histogram(histogram);
};

const timeOfFirst: RangeFunction = (window) => {
  const floats = window.floatCount > 0 ? window.time(window.from) : Number.POSITIVE_INFINITY;
  const histograms = window.histogramCount > 0 ? window.histogramTime(window.histogramFrom) : Number.POSITIVE_INFINITY;
  return Math.min(floats, histograms) / 1000;
};

const timeOfLast: RangeFunction = (window) => {
  const floats = window.floatCount > 0 ? window.time(window.to - 1) : 0;
  const histograms = window.histogramCount > 0 ? window.histogramTime(window.histogramTo - 1) : 0;
  return Math.max(floats, histograms) / 1000;
};

const quantile: RangeFunction = (window, call) => {
  const [quantile = Number.NaN] = window.args;
  if (window.floatCount === 0) return undefined;
  if (!(quantile >= 0 && quantile <= 1)) call.annotations.quantile(quantile, call.place);
  if (window.histogramCount > 0) call.annotations.ignoredInRange(window.samples.name, call.place);
  return computeValuesQuantile(quantile, valuesOf(window));
};

/** Functions that aggregate a range: `…_over_time`. */
export const overTime: Readonly<Record<string, RangeFunction>> = {
  sum_over_time: forFloatsOrHistograms(sumFloats, sumHistograms),
  avg_over_time: forFloatsOrHistograms(averageFloats, averageHistograms),
  count_over_time: (window) => window.floatCount + window.histogramCount,
  present_over_time: () => 1,
  absent_over_time: () => 1,
  first_over_time: firstValue,
  last_over_time: lastValue,
  ts_of_first_over_time: timeOfFirst,
  ts_of_last_over_time: timeOfLast,
  max_over_time: forFloatsOnly((window) => window.value(findBestIndex(window, (value, best) => value > best))),
  min_over_time: forFloatsOnly((window) => window.value(findBestIndex(window, (value, best) => value < best))),
  ts_of_max_over_time: forFloatsOnly(
    (window) => window.time(findBestIndex(window, (value, best) => value >= best)) / 1000,
  ),
  ts_of_min_over_time: forFloatsOnly(
    (window) => window.time(findBestIndex(window, (value, best) => value <= best)) / 1000,
  ),
  stddev_over_time: forFloatsOnly((window) => Math.sqrt(varianceOf(window))),
  stdvar_over_time: forFloatsOnly(varianceOf),
  mad_over_time: forFloatsOnly(medianDeviation),
  quantile_over_time: quantile,
};
