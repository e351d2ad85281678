/**
 * Forecasts the next values of a series. Several simple models forecast from earlier origins of the series; their
 * errors there determine the weights of the models, and the errors of the weighted forecast determine the intervals.
 * The functions are pure: equal values have equal results.
 */

import {
  createLevelModel,
  createLogRegressionModel,
  createRegressionModel,
  createSeasonalModel,
  createSeasonalTrendModel,
  createTrendModel,
  type Model,
} from './models.ts';
import { computeStudentCdf, computeStudentQuantile, forecastFromFewValues } from './short-series.ts';

/** Range of values: counts are never below 0, shares never outside 0 to 1. */
export type ValueKind = 'any' | 'count' | 'share';

export interface ForecastOptions {
  readonly horizon: number;
  /** Season lengths in steps, such as 24 and 168 for hours. */
  readonly periods: readonly number[];
  readonly kind: ValueKind;
}

export interface Forecast {
  /** Share of steps whose errors are independent of those before, from 0 to 1 */
  readonly independence: number;
  readonly values: readonly number[];
  /** Returns an interval per lead that should contain this share of values. */
  readonly intervals: (share: number) => readonly (readonly [low: number, high: number])[];
  /** Returns the probability per lead that the value is above this limit. */
  readonly probabilitiesAbove: (limit: number) => readonly number[];
}

/** Minimum number of values for a forecast. */
export const minValues = 3;
/** Minimum number of values for a backtest from earlier origins; shorter series use `short-series.ts`. */
const minBacktestValues = 24;
const maxValues = 4000;
const originCount = 10;
/** Exponent of weights: a model with twice the error has 1/256 of the weight. */
const weightExponent = 8;
/** Factor that widens intervals, which are slightly too narrow because the same errors determine the weights. */
const intervalWidening = 1.2;

const buildModels = (periods: readonly number[]): Model[] => {
  const lags = [
    1,
    2,
    3,
    ...periods.flatMap((period) => [period, period + 1]),
    ...periods.slice(0, 1).map((p) => 2 * p),
  ];
  const distinctLags = [...new Set(lags)].toSorted((left, right) => left - right);
  const shortLags = distinctLags.filter((lag) => lag <= 2 * (periods[0] ?? 3));
  return [
    ...periods.flatMap((period) => [createSeasonalModel(period, 1), createSeasonalModel(period, 3)]),
    ...periods.map(createSeasonalTrendModel),
    ...[createRegressionModel(distinctLags), createLogRegressionModel(distinctLags), createRegressionModel(shortLags)],
    ...[createLevelModel(1), createLevelModel(12), createTrendModel(1), createTrendModel(0.3)],
  ];
};

interface Backtest {
  readonly actualValues: Float64Array;
  readonly forecasts: readonly (Float64Array | undefined)[];
}

/**
 * Returns the forecasts of each model from earlier origins. Each forecast has the same number of leads, and about
 * half of the values or more precede each origin.
 */
const runBacktests = (values: Float64Array, models: readonly Model[], horizon: number): Backtest[] => {
  const leads = Math.max(1, Math.min(horizon, Math.floor(values.length / 4)));
  const spacing = Math.max(1, Math.floor(Math.min(leads, (values.length / 2 - leads) / (originCount - 1))));
  return Array.from({ length: originCount }, (_, originIndex) => values.length - leads - originIndex * spacing)
    .filter((origin) => origin >= 4)
    .map((origin) => ({
      actualValues: values.subarray(origin, origin + leads),
      forecasts: models.map((model) => model(values.subarray(0, origin), leads)),
    }));
};

const computeWeights = (backtests: readonly Backtest[], models: number, scale: number): number[] =>
  Array.from({ length: models }, (_, modelIndex) => {
    let [sum, count] = [0, 0];
    for (const { actualValues, forecasts } of backtests) {
      const forecast = forecasts[modelIndex];
      if (forecast === undefined) return 0;
      for (const [lead, value] of actualValues.entries()) sum += Math.abs(value - (forecast[lead] ?? 0));
      count += actualValues.length;
    }
    return (sum / count / scale + 1e-6) ** -weightExponent;
  });

const combineForecasts = (
  forecasts: readonly (Float64Array | undefined)[],
  weights: readonly number[],
  horizon: number,
): Float64Array => {
  const sum = new Float64Array(horizon);
  let total = 0;
  for (const [modelIndex, forecast] of forecasts.entries()) {
    const weight = forecast === undefined ? 0 : (weights[modelIndex] ?? 0);
    if (forecast === undefined || weight === 0) continue;
    total += weight;
    for (let lead = 0; lead < horizon; lead++) sum[lead] = (sum[lead] ?? 0) + weight * (forecast[lead] ?? 0);
  }
  return sum.map((value) => value / total);
};

/**
 * Returns a function for the growth of errors with the lead (a power of the lead), and the errors divided by this
 * growth, in ascending order.
 */
const computeErrors = (backtests: readonly Backtest[], weights: readonly number[]) => {
  const leads = backtests[0]?.actualValues.length ?? 1;
  const errors = backtests.map(({ actualValues, forecasts }) => {
    const forecast = combineForecasts(forecasts, weights, leads);
    return actualValues.map((value, lead) => value - (forecast[lead] ?? 0));
  });
  const rootMeanSquare = (from: number, to: number): number => {
    let [sum, count] = [0, 0];
    for (const path of errors)
      for (const error of path.subarray(from, to)) [sum, count] = [sum + error ** 2, count + 1];
    return Math.sqrt(sum / Math.max(1, count));
  };
  const half = leads >> 1;
  const [near, far] = [rootMeanSquare(0, half), rootMeanSquare(half, leads)];
  // The exponent is between 0, errors that do not depend on the lead, and 1, those of a line with a wrong slope.
  const growth = half === 0 || !(near > 0) ? 0.5 : Math.min(1, Math.max(0, Math.log(far / near) / Math.log(3)));
  const getErrorScale = (lead: number): number => (lead + 1) ** growth;
  const sorted = Float64Array.from(
    errors.flatMap((path) => [...path].map((error, lead) => error / getErrorScale(lead))),
  );
  return { spread: getErrorScale, sorted: sorted.sort(), independence: computeIndependence(errors) };
};

/**
 * Returns the share of steps whose errors are independent of those before: that of an autoregressive process with the
 * autocorrelation of the errors at one step.
 */
const computeIndependence = (paths: readonly Float64Array[]): number => {
  let [products, squares] = [0, 0];
  for (const path of paths)
    for (let step = 1; step < path.length; step++) {
      products += (path[step] ?? 0) * (path[step - 1] ?? 0);
      squares += (path[step] ?? 0) ** 2;
    }
  const correlation = squares > 0 ? Math.min(1, Math.max(0, products / squares)) : 1;
  return (1 - correlation) / (1 + correlation);
};

const computeQuantile = (sorted: Float64Array, share: number): number => {
  const position = Math.min(sorted.length - 1, Math.max(0, share * (sorted.length + 1) - 1));
  const below = Math.floor(position);
  const value = sorted[below] ?? 0;
  return value + (position - below) * ((sorted[below + 1] ?? value) - value);
};

const bounds: Readonly<Record<ValueKind, readonly [low: number, high: number]>> = {
  any: [-Number.MAX_VALUE, Number.MAX_VALUE],
  count: [0, Number.MAX_VALUE],
  share: [0, 1],
};

/** Minimum number of seasons, and of adjacent slots, with only zeros for slots to count as silent. */
const [minSilentSeasons, minSilentSlots] = [5, 3];

/**
 * Returns the slots of the season whose values were all exactly 0, like solar power at night; the next value there is 0
 * too. Requires at least three adjacent slots over five seasons, because otherwise rare events would count as silence.
 */
const findSilentSlots = (values: Float64Array, period: number): boolean[] => {
  const isZero = Array.from({ length: period }, () => values.length >= minSilentSeasons * period);
  for (const [index, value] of values.entries()) if (value !== 0) isZero[(values.length - index - 1) % period] = false;
  return isZero.map((_, slot) =>
    Array.from({ length: minSilentSlots }, (__, first) => first).some((first) =>
      Array.from({ length: minSilentSlots }, (__, step) => isZero[(slot - first + step + period) % period]).every(
        Boolean,
      ),
    ),
  );
};

/** Forecasts equidistant values, oldest first. `undefined` if there are fewer than `minValues`. */
export const forecast = (
  history: readonly number[],
  { horizon, periods, kind }: ForecastOptions,
): Forecast | undefined => {
  if (history.length < minValues) return undefined;
  const recent = history.slice(-maxValues);
  // Computed relative to the largest value, so that squares of 1e300 stay finite.
  const unit = recent.reduce((highest, value) => Math.max(highest, Math.abs(value)), 0) || 1;
  const values = Float64Array.from(recent, (value) => value / unit);
  if (values.length < minBacktestValues) return forecastShortSeries(values, unit, horizon, kind);
  const models = buildModels(periods.filter((period) => period >= 2 && period * 3 <= values.length));
  const backtests = runBacktests(values, models, horizon);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const scale = values.reduce((sum, value) => sum + Math.abs(value - mean), 0) / values.length || 1;
  const weights = computeWeights(backtests, models.length, scale);
  const centralValues = combineForecasts(
    models.map((model) => model(values, horizon)),
    weights,
    horizon,
  );
  const { spread: getErrorScale, sorted, independence } = computeErrors(backtests, weights);
  const [season = 1] = periods;
  const silentSlots =
    kind !== 'any' && values.length >= minSilentSeasons * season ? findSilentSlots(values, season) : [];
  for (let lead = 0; lead < horizon; lead++)
    // Slots are counted back from the last value, so a lead has a negative slot.
    if (silentSlots[(((-lead - 1) % season) + season) % season] === true) centralValues[lead] = 0;
  const [low, high] = bounds[kind];
  const clamp = (value: number): number => Math.min(high, Math.max(low, value * unit));
  return {
    values: Array.from(centralValues, clamp),
    independence,
    intervals: (share) => {
      const [lowError, highError] = [
        computeQuantile(sorted, (1 - share) / 2),
        computeQuantile(sorted, (1 + share) / 2),
      ];
      return Array.from(centralValues, (value, lead) => [
        clamp(value + Math.min(0, intervalWidening * lowError) * getErrorScale(lead)),
        clamp(value + Math.max(0, intervalWidening * highError) * getErrorScale(lead)),
      ]);
    },
    probabilitiesAbove: (limit) =>
      Array.from(centralValues, (value, lead) => {
        const scaledError = (limit / unit - value) / getErrorScale(lead) / intervalWidening;
        return (sorted.length - countUpTo(sorted, scaledError)) / sorted.length;
      }),
  };
};

const forecastShortSeries = (values: Float64Array, unit: number, horizon: number, kind: ValueKind): Forecast => {
  const { leads, degreesOfFreedom } = forecastFromFewValues(values, horizon);
  const [low, high] = bounds[kind];
  const clamp = (value: number): number => Math.min(high, Math.max(low, value * unit));
  return {
    values: leads.map(({ value }) => clamp(value)),
    independence: 0,
    intervals: (share) => {
      const tQuantile = computeStudentQuantile((1 + share) / 2, degreesOfFreedom);
      return leads.map(({ value, scale }) => [clamp(value - tQuantile * scale), clamp(value + tQuantile * scale)]);
    },
    probabilitiesAbove: (limit) =>
      leads.map(({ value, scale }) =>
        scale > 0
          ? 1 - computeStudentCdf((limit / unit - value) / scale, degreesOfFreedom)
          : Number(value > limit / unit),
      ),
  };
};

/** Returns how many of the sorted values are at most this limit. */
const countUpTo = (sorted: Float64Array, limit: number): number => {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? 0) <= limit) from = middle + 1;
    else to = middle;
  }
  return from;
};
