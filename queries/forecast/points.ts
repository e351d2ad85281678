/** Forecasts points with times: puts them on an equidistant grid, fills gaps, and derives the seasons from the step. */
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
export const computeMedianStepMs = (points: readonly TimedValue[]): number => {
  const intervals = points.slice(1).map(([timeMs], index) => timeMs - (points[index]?.[0] ?? 0));
  return intervals.toSorted((left, right) => left - right)[intervals.length >> 1] ?? 0;
};

/** Detects the range of the values from their history: never below 0, or shares between 0 and 1. */
export const detectValueKind = (values: readonly number[]): ValueKind => {
  if (values.some((value) => value < 0)) return 'any';
  return values.every((value) => value <= 1) && values.some((value) => !Number.isInteger(value)) ? 'share' : 'count';
};

/**
 * Returns equidistant values, with gaps interpolated. They start after the last gap that is longer than a quarter of
 * the number of values.
 */
const fillGaps = (points: readonly TimedValue[], stepMs: number): number[] => {
  const valuedPoints = points.filter((point): point is readonly [number, number] => point[1] !== null);
  const maxSteps = Math.max(2, Math.ceil(valuedPoints.length / 4));
  const values: number[] = [];
  for (const [index, [timeMs, value]] of valuedPoints.entries()) {
    const [previousMs, previousValue] = valuedPoints[index - 1] ?? [timeMs - stepMs, value];
    const steps = Math.max(1, Math.round((timeMs - previousMs) / stepMs));
    if (steps > maxSteps) values.length = 0;
    else for (let step = 1; step < steps; step++) values.push(previousValue + ((value - previousValue) * step) / steps);
    values.push(value);
  }
  return values;
};

/**
 * Forecasts points, given in ascending order of time. If there is no forecast, returns the reason as text. By default
 * `kind` is derived from the values.
 */
export const forecastPoints = (
  points: readonly TimedValue[],
  options: { readonly horizon: number; readonly stepMs?: number | undefined; readonly kind?: ValueKind | undefined },
): PointsForecast | string => {
  const stepMs = options.stepMs ?? computeMedianStepMs(points);
  const lastPoint = points.findLast(([, value]) => value !== null);
  const values = stepMs > 0 ? fillGaps(points, stepMs) : [];
  const periods = [dayMs / stepMs, weekMs / stepMs].filter((period) => Number.isInteger(period) && period >= 2);
  const valueForecast = forecast(values, {
    horizon: options.horizon,
    periods,
    kind: options.kind ?? detectValueKind(values),
  });
  if (lastPoint === undefined || valueForecast === undefined)
    return `${values.length} consecutive values are too few: a forecast needs ${minValues}`;
  return { forecast: valueForecast, firstAtMs: lastPoint[0] + stepMs, stepMs };
};
