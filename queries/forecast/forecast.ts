/**
 * Forecasts the next values of a series: several simple forecasts, weighted by their errors at earlier origins of the
 * series, with intervals from the errors of the weighted forecast. No input or output, and equal results for equal
 * values.
 */

import { level, type Part, regression, regressionOfLogarithms, seasonal, trend } from './parts.ts';
import { shortForecast, studentAt, studentBelow } from './short.ts';

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
  /** Returns the interval, by lead, that should contain this share of values. */
  readonly interval: (share: number) => readonly (readonly [low: number, high: number])[];
  /** Returns the probability, by lead, that the value is above this limit. */
  readonly above: (limit: number) => readonly number[];
}

/** Minimum number of values for a forecast. */
export const minValues = 3;
/** Minimum number of values for sufficient errors at earlier origins (`short.ts`). */
const fewValues = 24;
const maxValues = 4000;
const origins = 10;
/** Exponent of weights: a part with twice the error has 1/16 of the weight. */
const sharpness = 4;
/** Factor that widens intervals, which are slightly too narrow because the same errors determine the weights. */
const widening = 1.2;

const partsFor = (periods: readonly number[]): Part[] => {
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
    ...periods.flatMap((period) => [seasonal(period, 1), seasonal(period, 3)]),
    ...[regression(distinct), regressionOfLogarithms(distinct), regression(short)],
    ...[level(1), level(12), trend(1), trend(0.3)],
  ];
};

interface Trial {
  readonly truth: Float64Array;
  readonly forecasts: readonly (Float64Array | undefined)[];
}

/**
 * Returns the forecasts of each part at earlier origins. Each has the same number of leads, and at least half of the
 * values before it.
 */
const trialsOf = (values: Float64Array, parts: readonly Part[], horizon: number): Trial[] => {
  const leads = Math.max(1, Math.min(horizon, Math.floor(values.length / 4)));
  const spacing = Math.max(1, Math.floor(Math.min(leads, (values.length / 2 - leads) / (origins - 1))));
  return Array.from({ length: origins }, (_, back) => values.length - leads - back * spacing)
    .filter((origin) => origin >= 4)
    .map((origin) => ({
      truth: values.subarray(origin, origin + leads),
      forecasts: parts.map((part) => part(values.subarray(0, origin), leads)),
    }));
};

const weightsOf = (trials: readonly Trial[], parts: number, scale: number): number[] =>
  Array.from({ length: parts }, (_, part) => {
    let [sum, count] = [0, 0];
    for (const { truth, forecasts } of trials) {
      const forecast = forecasts[part];
      if (forecast === undefined) return 0;
      for (const [lead, value] of truth.entries()) sum += Math.abs(value - (forecast[lead] ?? 0));
      count += truth.length;
    }
    return (sum / count / scale + 1e-6) ** -sharpness;
  });

const weighted = (
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

/** Returns the deviation of errors as a power of the lead, and the errors divided by it, ascending. */
const errorsOf = (trials: readonly Trial[], weights: readonly number[]) => {
  const leads = trials[0]?.truth.length ?? 1;
  const errors = trials.map(({ truth, forecasts }) => {
    const forecast = weighted(forecasts, weights, leads);
    return truth.map((value, lead) => value - (forecast[lead] ?? 0));
  });
  const squares = (from: number, to: number): number => {
    let [sum, count] = [0, 0];
    for (const path of errors)
      for (const error of path.subarray(from, to)) [sum, count] = [sum + error ** 2, count + 1];
    return Math.sqrt(sum / Math.max(1, count));
  };
  const half = leads >> 1;
  const [near, far] = [squares(0, half), squares(half, leads)];
  // Errors grow no faster than those of a line with a wrong slope, and do not shrink with the lead.
  const growth = half === 0 || !(near > 0) ? 0.5 : Math.min(1, Math.max(0, Math.log(far / near) / Math.log(3)));
  const spread = (lead: number): number => (lead + 1) ** growth;
  const sorted = Float64Array.from(errors.flatMap((path) => [...path].map((error, lead) => error / spread(lead))));
  return { spread, sorted: sorted.sort() };
};

const quantile = (sorted: Float64Array, share: number): number => {
  const place = Math.min(sorted.length - 1, Math.max(0, share * (sorted.length + 1) - 1));
  const below = Math.floor(place);
  const value = sorted[below] ?? 0;
  return value + (place - below) * ((sorted[below + 1] ?? value) - value);
};

const bounds: Readonly<Record<ValueKind, readonly [low: number, high: number]>> = {
  any: [-Number.MAX_VALUE, Number.MAX_VALUE],
  count: [0, Number.MAX_VALUE],
  share: [0, 1],
};

/** Minimum number of seasons, and of adjacent slots, for silent slots of a season. */
const [silentSeasons, silentPlaces] = [5, 3];

/**
 * Returns the slots of the season whose values were all exactly 0, like solar power at night; the next value there is 0
 * too. It needs at least three adjacent slots over five seasons, so that rare events do not count as silent.
 */
const silentPlacesOf = (values: Float64Array, period: number): boolean[] => {
  const isZero = Array.from({ length: period }, () => values.length >= silentSeasons * period);
  for (const [index, value] of values.entries()) if (value !== 0) isZero[(values.length - index - 1) % period] = false;
  return isZero.map((_, place) =>
    Array.from({ length: silentPlaces }, (__, first) => first).some((first) =>
      Array.from({ length: silentPlaces }, (__, step) => isZero[(place - first + step + period) % period]).every(
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
  if (values.length < fewValues) return forecastOfFew(values, unit, horizon, kind);
  const parts = partsFor(periods.filter((period) => period >= 2 && period * 3 <= values.length));
  const trials = trialsOf(values, parts, horizon);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const scale = values.reduce((sum, value) => sum + Math.abs(value - mean), 0) / values.length || 1;
  const weights = weightsOf(trials, parts.length, scale);
  const middle = weighted(
    parts.map((part) => part(values, horizon)),
    weights,
    horizon,
  );
  const { spread, sorted } = errorsOf(trials, weights);
  const [season = 1] = periods;
  const silent = kind !== 'any' && values.length >= silentSeasons * season ? silentPlacesOf(values, season) : [];
  for (let lead = 0; lead < horizon; lead++)
    // Slot of a lead, counted back from the last value like the slots.
    if (silent[(((-lead - 1) % season) + season) % season] === true) middle[lead] = 0;
  const [low, high] = bounds[kind];
  const within = (value: number): number => Math.min(high, Math.max(low, value * unit));
  return {
    values: Array.from(middle, within),
    interval: (share) => {
      const [under, over] = [quantile(sorted, (1 - share) / 2), quantile(sorted, (1 + share) / 2)];
      return Array.from(middle, (value, lead) => [
        within(value + Math.min(0, widening * under) * spread(lead)),
        within(value + Math.max(0, widening * over) * spread(lead)),
      ]);
    },
    above: (limit) =>
      Array.from(middle, (value, lead) => {
        const needed = (limit / unit - value) / spread(lead) / widening;
        return (sorted.length - countUpTo(sorted, needed)) / sorted.length;
      }),
  };
};

const forecastOfFew = (values: Float64Array, unit: number, horizon: number, kind: ValueKind): Forecast => {
  const { leads, freedom } = shortForecast(values, horizon);
  const [low, high] = bounds[kind];
  const within = (value: number): number => Math.min(high, Math.max(low, value * unit));
  return {
    values: leads.map(({ value }) => within(value)),
    interval: (share) => {
      const reach = studentAt((1 + share) / 2, freedom);
      return leads.map(({ value, scale }) => [within(value - reach * scale), within(value + reach * scale)]);
    },
    above: (limit) =>
      leads.map(({ value, scale }) =>
        scale > 0 ? 1 - studentBelow((limit / unit - value) / scale, freedom) : Number(value > limit / unit),
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
