import { KahanSum } from '../histograms/kahan.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import type { RangeCall, RangeFunction, Window } from './window.ts';

/** Fits a line to the samples of a window by least squares, relative to a time. */
const fitLine = (window: Window, fromMs: number): { slope: number; intercept: number } => {
  const x = new KahanSum();
  const y = new KahanSum();
  const xy = new KahanSum();
  const xx = new KahanSum();
  const first = window.value(window.from);
  let isConstant = true;
  for (let index = window.from; index < window.to; index++) {
    const value = window.value(index);
    if (index > window.from && value !== first) isConstant = false;
    const seconds = (window.time(index) - fromMs) / 1000;
    x.add(seconds);
    y.add(value);
    xy.add(seconds * value);
    xx.add(seconds * seconds);
  }
  if (isConstant) {
    const isInfinite = Math.abs(first) === Number.POSITIVE_INFINITY;
    return isInfinite ? { slope: Number.NaN, intercept: Number.NaN } : { slope: 0, intercept: first };
  }
  const count = window.floatCount;
  const covariance = xy.total - (x.total * y.total) / count;
  const variance = xx.total - (x.total * x.total) / count;
  const slope = covariance / variance;
  return { slope, intercept: y.total / count - (slope * x.total) / count };
};

const requireTwoFloats =
  (calculate: (window: Window) => number): RangeFunction =>
  (window: Window, call: RangeCall) => {
    if (window.floatCount > 0 && window.histogramCount > 0)
      call.annotations.addIgnoredInRange(window.samples.name, call.position);
    return window.floatCount < 2 ? undefined : calculate(window);
  };

const requireFactor = (name: string, value: number): number => {
  if (value <= 0 || value >= 1)
    throw new PromqlExecutionError(
      `invalid ${name} factor. Expected: 0 < ${name === 'smoothing' ? 'sf' : 'tf'} < 1, got: ${value.toFixed(6)}`,
    );
  return value;
};

const smoothExponentially = (window: Window): number => {
  const smoothingFactor = window.args[0] as number;
  const trendFactor = window.args[1] as number;
  let previousSmoothed = 0;
  let smoothed = window.value(window.from);
  let trend = window.value(window.from + 1) - smoothed;
  for (let index = window.from + 1; index < window.to; index++) {
    if (index > window.from + 1) trend = trendFactor * (smoothed - previousSmoothed) + (1 - trendFactor) * trend;
    const next = smoothingFactor * window.value(index) + (1 - smoothingFactor) * (smoothed + trend);
    previousSmoothed = smoothed;
    smoothed = next;
  }
  return smoothed;
};

const smoothTwoFloats = requireTwoFloats(smoothExponentially);

/** Functions that describe the trend within a range. */
export const trends: Readonly<Record<string, RangeFunction>> = {
  deriv: requireTwoFloats((window) => fitLine(window, window.time(window.from)).slope),
  predict_linear: requireTwoFloats((window) => {
    const { slope, intercept } = fitLine(window, window.timeMs);
    return slope * (window.args[0] as number) + intercept;
  }),
  double_exponential_smoothing: (window, call) => {
    requireFactor('smoothing', window.args[0] as number);
    requireFactor('trend', window.args[1] as number);
    return smoothTwoFloats(window, call);
  },
};
