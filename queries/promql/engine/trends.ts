import { KahanSum } from '../histograms/kahan.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import type { RangeCall, RangeFunction, Window } from './window.ts';

/** Fits a line to the samples of a window by least squares, relative to a time. */
const regression = (window: Window, fromMs: number): { slope: number; intercept: number } => {
  const x = new KahanSum();
  const y = new KahanSum();
  const xy = new KahanSum();
  const xx = new KahanSum();
  const first = window.value(window.from);
  let constant = true;
  for (let place = window.from; place < window.to; place++) {
    const value = window.value(place);
    if (place > window.from && value !== first) constant = false;
    const seconds = (window.time(place) - fromMs) / 1000;
    x.add(seconds);
    y.add(value);
    xy.add(seconds * value);
    xx.add(seconds * seconds);
  }
  if (constant) {
    const infinite = Math.abs(first) === Number.POSITIVE_INFINITY;
    return infinite ? { slope: Number.NaN, intercept: Number.NaN } : { slope: 0, intercept: first };
  }
  const count = window.floatCount;
  const covariance = xy.total - (x.total * y.total) / count;
  const variance = xx.total - (x.total * x.total) / count;
  const slope = covariance / variance;
  return { slope, intercept: y.total / count - (slope * x.total) / count };
};

const ofTwoFloats =
  (calculate: (window: Window) => number): RangeFunction =>
  (window: Window, call: RangeCall) => {
    if (window.floatCount > 0 && window.histogramCount > 0)
      call.annotations.ignoredInRange(window.samples.name, call.place);
    return window.floatCount < 2 ? undefined : calculate(window);
  };

const factor = (name: string, value: number): number => {
  if (value <= 0 || value >= 1)
    throw new PromqlExecutionError(
      `invalid ${name} factor. Expected: 0 < ${name === 'smoothing' ? 'sf' : 'tf'} < 1, got: ${value.toFixed(6)}`,
    );
  return value;
};

const smooth = (window: Window): number => {
  const smoothing = window.args[0] as number;
  const trending = window.args[1] as number;
  let before = 0;
  let smoothed = window.value(window.from);
  let trend = window.value(window.from + 1) - smoothed;
  for (let place = window.from + 1; place < window.to; place++) {
    if (place > window.from + 1) trend = trending * (smoothed - before) + (1 - trending) * trend;
    const next = smoothing * window.value(place) + (1 - smoothing) * (smoothed + trend);
    before = smoothed;
    smoothed = next;
  }
  return smoothed;
};

const smoothTwo = ofTwoFloats(smooth);

/** Functions of the trend within a range. */
export const trends: Readonly<Record<string, RangeFunction>> = {
  deriv: ofTwoFloats((window) => regression(window, window.time(window.from)).slope),
  predict_linear: ofTwoFloats((window) => {
    const { slope, intercept } = regression(window, window.timeMs);
    return slope * (window.args[0] as number) + intercept;
  }),
  double_exponential_smoothing: (window, call) => {
    factor('smoothing', window.args[0] as number);
    factor('trend', window.args[1] as number);
    return smoothTwo(window, call);
  },
};
