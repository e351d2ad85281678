/** Forecasts of points with times: a grid of equal steps, gaps filled, periods by the step. */
import { type Forecast, forecast, minValues, type ValueKind } from './forecast.ts';

/** A time in milliseconds, and a value or nothing. */
export type TimedValue = readonly [timeMs: number, value: number | null];

export interface PointsForecast {
  readonly forecast: Forecast;
  /** Of the first value that is forecast; the others follow a step apart. */
  readonly firstMs: number;
  readonly stepMs: number;
}

const [dayMs, weekMs] = [86_400_000, 604_800_000];

/** The distance that most points have from the one before them. */
export const medianStepMs = (points: readonly TimedValue[]): number => {
  const intervals = points.slice(1).map(([timeMs], index) => timeMs - (points[index]?.[0] ?? 0));
  return intervals.toSorted((one, other) => one - other)[intervals.length >> 1] ?? 0;
};

/** What values can be, by what they were: those that were never below 0 stay so, and those between 0 and 1 are shares. */
export const kindOf = (values: readonly number[]): ValueKind => {
  if (values.some((value) => value < 0)) return 'any';
  return values.every((value) => value <= 1) && values.some((value) => !Number.isInteger(value)) ? 'share' : 'count';
};

/** Values a step apart up to the last one, from behind the last gap that is longer than a quarter of what lies around it. */
const filled = (points: readonly TimedValue[], stepMs: number): number[] => {
  const known = points.filter((point): point is readonly [number, number] => point[1] !== null);
  const maxSteps = Math.max(2, Math.ceil(known.length / 4));
  const values: number[] = [];
  for (const [index, [timeMs, value]] of known.entries()) {
    const [beforeMs, before] = known[index - 1] ?? [timeMs - stepMs, value];
    const steps = Math.max(1, Math.round((timeMs - beforeMs) / stepMs));
    if (steps > maxSteps) values.length = 0;
    else for (let step = 1; step < steps; step++) values.push(before + ((value - before) * step) / steps);
    values.push(value);
  }
  return values;
};

/** Forecasts points whose times rise; a text says why there is no forecast. `kind` follows from the values unless it is told. */
export const forecastPoints = (
  points: readonly TimedValue[],
  options: { readonly horizon: number; readonly stepMs?: number | undefined; readonly kind?: ValueKind | undefined },
): PointsForecast | string => {
  const stepMs = options.stepMs ?? medianStepMs(points);
  const last = points.findLast(([, value]) => value !== null);
  const values = stepMs > 0 ? filled(points, stepMs) : [];
  const periods = [dayMs / stepMs, weekMs / stepMs].filter((period) => Number.isInteger(period) && period >= 2);
  const found = forecast(values, { horizon: options.horizon, periods, kind: options.kind ?? kindOf(values) });
  if (last === undefined || found === undefined)
    return `${values.length} values a step apart are too few: a forecast needs ${minValues}`;
  return { forecast: found, firstMs: last[0] + stepMs, stepMs };
};
