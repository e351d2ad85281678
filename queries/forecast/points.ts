/** Forecasts timed points: an equidistant grid, filled gaps, and periods by the step. */
import { type Forecast, forecast, minValues, type ValueKind } from './forecast.ts';

/** A time in milliseconds, and a value or null. */
export type TimedValue = readonly [timeMs: number, value: number | null];

export interface PointsForecast {
  readonly forecast: Forecast;
  /** Time of the first forecast value; the others follow one step apart. */
  readonly firstAtMs: number;
  readonly stepMs: number;
}

const [dayMs, weekMs] = [86_400_000, 604_800_000];

/** Returns the median distance between consecutive points. */
export const medianStepMs = (points: readonly TimedValue[]): number => {
  const intervals = points.slice(1).map(([timeMs], index) => timeMs - (points[index]?.[0] ?? 0));
  return intervals.toSorted((one, other) => one - other)[intervals.length >> 1] ?? 0;
};

/** Returns the range of values by history: values never below 0 stay so, and values between 0 and 1 are shares. */
export const detectValueKind = (values: readonly number[]): ValueKind => {
  if (values.some((value) => value < 0)) return 'any';
  return values.every((value) => value <= 1) && values.some((value) => !Number.isInteger(value)) ? 'share' : 'count';
};

/**
 * Returns equidistant values up to the last one, starting after the last gap longer than a quarter of the number of
 * values.
 */
const fillGaps = (points: readonly TimedValue[], stepMs: number): number[] => {
  const valuedPoints = points.filter((point): point is readonly [number, number] => point[1] !== null);
  const maxSteps = Math.max(2, Math.ceil(valuedPoints.length / 4));
  const values: number[] = [];
  for (const [index, [timeMs, value]] of valuedPoints.entries()) {
    const [previousMs, before] = valuedPoints[index - 1] ?? [timeMs - stepMs, value];
    const steps = Math.max(1, Math.round((timeMs - previousMs) / stepMs));
    if (steps > maxSteps) values.length = 0;
    else for (let step = 1; step < steps; step++) values.push(before + ((value - before) * step) / steps);
    values.push(value);
  }
  return values;
};

/**
 * Forecasts points in ascending order of time; returns a text with the reason if there is no forecast. By default
 * `kind` is derived from the values.
 */
export const forecastPoints = (
  points: readonly TimedValue[],
  options: { readonly horizon: number; readonly stepMs?: number | undefined; readonly kind?: ValueKind | undefined },
): PointsForecast | string => {
  const stepMs = options.stepMs ?? medianStepMs(points);
  const last = points.findLast(([, value]) => value !== null);
  const values = stepMs > 0 ? fillGaps(points, stepMs) : [];
  const periods = [dayMs / stepMs, weekMs / stepMs].filter((period) => Number.isInteger(period) && period >= 2);
  const valueForecast = forecast(values, {
    horizon: options.horizon,
    periods,
    kind: options.kind ?? detectValueKind(values),
  });
  if (last === undefined || valueForecast === undefined)
    return `${values.length} consecutive values are too few: a forecast needs ${minValues}`;
  return { forecast: valueForecast, firstAtMs: last[0] + stepMs, stepMs };
};
