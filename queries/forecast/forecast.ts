/**
 * Forecasts the next values of a series. Several simple models forecast from earlier origins of the series; their
 * errors there determine the weights of the models, and the errors of the weighted forecast determine the intervals.
 * The functions are pure: equal values have equal results.
 */

import { levelModel, logRegressionModel, type Model, regressionModel, seasonalModel, trendModel } from './parts.ts';
import { forecastFromFewValues, studentCdf, studentQuantile } from './short.ts';

/** Range of values: counts are never below 0, shares never outside 0 to 1. */
export type ValueKind = 'any' | 'count' | 'share';

export interface ForecastOptions {
  readonly horizon: number;
  /** Season lengths in steps, such as 24 and 168 for hours. */
  readonly periods: readonly number[];
  readonly kind: ValueKind;
}

export interface Forecast {
  readonly values: readonly number[];
  /** Returns an interval per lead that should contain this share of values. */
  readonly intervals: (share: number) => readonly (readonly [low: number, high: number])[];
  /** Returns the probability per lead that the value is above this limit. */
  readonly probabilitiesAbove: (limit: number) => readonly number[];
}

/** Minimum number of values for a forecast. */
export const minValues = 3;
/** Minimum number of values for a backtest from earlier origins; shorter series use `short.ts`. */
const minBacktestValues = 24;
const maxValues = 4000;
const originCount = 10;
/** Exponent of weights: a model with twice the error has 1/16 of the weight. */
const weightExponent = 4;
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
  const distinct = [...new Set(lags)].toSorted((one, other) => one - other);
  const short = distinct.filter((lag) => lag <= 2 * (periods[0] ?? 3));
  return [
    ...periods.flatMap((period) => [seasonalModel(period, 1), seasonalModel(period, 3)]),
    ...[regressionModel(distinct), logRegressionModel(distinct), regressionModel(short)],
    ...[levelModel(1), levelModel(12), trendModel(1), trendModel(0.3)],
  ];
};

interface Backtest {
  readonly actualValues: Float64Array;
  readonly forecasts: readonly (Float64Array | undefined)[];
}

/**
 * Returns the forecasts of each model from earlier origins. Each forecast has the same number of leads; about half of
 * the values or more precede each origin.
 */
const runBacktests = (values: Float64Array, parts: readonly Model[], horizon: number): Backtest[] => {
  const leads = Math.max(1, Math.min(horizon, Math.floor(values.length / 4)));
  const spacing = Math.max(1, Math.floor(Math.min(leads, (values.length / 2 - leads) / (originCount - 1))));
  return Array.from({ length: originCount }, (_, back) => values.length - leads - back * spacing)
    .filter((origin) => origin >= 4)
    .map((origin) => ({
      actualValues: values.subarray(origin, origin + leads),
      forecasts: parts.map((part) => part(values.subarray(0, origin), leads)),
    }));
};

const computeWeights = (trials: readonly Backtest[], parts: number, scale: number): number[] =>
  Array.from({ length: parts }, (_, part) => {
    let [sum, count] = [0, 0];
    for (const { actualValues, forecasts } of trials) {
      const forecast = forecasts[part];
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
  for (const [part, forecast] of forecasts.entries()) {
    const weight = forecast === undefined ? 0 : (weights[part] ?? 0);
    if (forecast === undefined || weight === 0) continue;
    total += weight;
    for (let lead = 0; lead < horizon; lead++) sum[lead] = (sum[lead] ?? 0) + weight * (forecast[lead] ?? 0);
  }
  return sum.map((value) => value / total);
};

/** Returns how errors grow with the lead (a power of it), and the errors divided by this growth, in ascending order. */
const computeErrors = (trials: readonly Backtest[], weights: readonly number[]) => {
  const leads = trials[0]?.actualValues.length ?? 1;
  const errors = trials.map(({ actualValues, forecasts }) => {
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
  const spread = (lead: number): number => (lead + 1) ** growth;
  const sorted = Float64Array.from(errors.flatMap((path) => [...path].map((error, lead) => error / spread(lead))));
  return { spread, sorted: sorted.sort() };
};

const quantile = (sorted: Float64Array, share: number): number => {
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
 * too. It needs at least three adjacent slots over five seasons, so that rare events do not count as silent.
 */
const findSilentSlots = (values: Float64Array, period: number): boolean[] => {
  const isZero = Array.from({ length: period }, () => values.length >= minSilentSeasons * period);
  for (const [index, value] of values.entries()) if (value !== 0) isZero[(values.length - index - 1) % period] = false;
  return isZero.map((_, place) =>
    Array.from({ length: minSilentSlots }, (__, first) => first).some((first) =>
      Array.from({ length: minSilentSlots }, (__, step) => isZero[(place - first + step + period) % period]).every(
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
  const parts = buildModels(periods.filter((period) => period >= 2 && period * 3 <= values.length));
  const trials = runBacktests(values, parts, horizon);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const scale = values.reduce((sum, value) => sum + Math.abs(value - mean), 0) / values.length || 1;
  const weights = computeWeights(trials, parts.length, scale);
  const centralValues = combineForecasts(
    parts.map((part) => part(values, horizon)),
    weights,
    horizon,
  );
  const { spread, sorted } = computeErrors(trials, weights);
  const [season = 1] = periods;
  const silent = kind !== 'any' && values.length >= minSilentSeasons * season ? findSilentSlots(values, season) : [];
  for (let lead = 0; lead < horizon; lead++)
    // Slots are counted back from the last value, so a lead has a negative slot.
    if (silent[(((-lead - 1) % season) + season) % season] === true) centralValues[lead] = 0;
  const [low, high] = bounds[kind];
  const within = (value: number): number => Math.min(high, Math.max(low, value * unit));
  return {
    values: Array.from(centralValues, within),
    intervals: (share) => {
      const [under, over] = [quantile(sorted, (1 - share) / 2), quantile(sorted, (1 + share) / 2)];
      return Array.from(centralValues, (value, lead) => [
        within(value + Math.min(0, intervalWidening * under) * spread(lead)),
        within(value + Math.max(0, intervalWidening * over) * spread(lead)),
      ]);
    },
    probabilitiesAbove: (limit) =>
      Array.from(centralValues, (value, lead) => {
        const scaledError = (limit / unit - value) / spread(lead) / intervalWidening;
        return (sorted.length - countUpTo(sorted, scaledError)) / sorted.length;
      }),
  };
};

const forecastShortSeries = (values: Float64Array, unit: number, horizon: number, kind: ValueKind): Forecast => {
  const { leads, degreesOfFreedom } = forecastFromFewValues(values, horizon);
  const [low, high] = bounds[kind];
  const within = (value: number): number => Math.min(high, Math.max(low, value * unit));
  return {
    values: leads.map(({ value }) => within(value)),
    intervals: (share) => {
      const tQuantile = studentQuantile((1 + share) / 2, degreesOfFreedom);
      return leads.map(({ value, scale }) => [within(value - tQuantile * scale), within(value + tQuantile * scale)]);
    },
    probabilitiesAbove: (limit) =>
      leads.map(({ value, scale }) =>
        scale > 0 ? 1 - studentCdf((limit / unit - value) / scale, degreesOfFreedom) : Number(value > limit / unit),
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
