import { forecast as forecastValues, minValues } from '../../queries/forecast/forecast.ts';
import { type Known, known, unknown } from '../../queries/unknown.ts';

const dayMs = 86_400_000;
/** Five weeks, so that days of the week tell. */
export const basisDays = 35;
const week = 7;

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export interface ForecastInput {
  /** Accepted of each day that has any, `YYYY-MM-DD` → amount, over the period and the `basisDays` before now. */
  readonly byDay: ReadonlyMap<string, number>;
  readonly period: { readonly fromMs: number; readonly endMs: number };
  readonly nowMs: number;
  /** The first day of which anything is known. */
  readonly firstDay: string | undefined;
}

/**
 * What the period will have when it ends: what it has, and what the complete days before forecast for those that are left
 * (`queries/forecast/`). The first day of all is not complete. Days without volume count as 0.
 */
export const forecast = ({ byDay, period, nowMs, firstDay }: ForecastInput): Known => {
  if (nowMs >= period.endMs) return unknown('the period is over');
  const complete: number[] = [];
  for (let index = 1; index <= basisDays; index++) {
    const day = dayOf(nowMs - index * dayMs);
    if (firstDay === undefined || day <= firstDay) break;
    complete.unshift(byDay.get(day) ?? 0);
  }
  const startOfToday = nowMs - (nowMs % dayMs);
  const horizon = Math.ceil((period.endMs - startOfToday) / dayMs);
  const found = forecastValues(complete, { horizon, periods: [week], kind: 'count' });
  if (found === undefined)
    return unknown(`complete days of history: ${complete.length}; a forecast needs ${minValues}`);
  let used = 0;
  for (const [day, amount] of byDay) if (day >= dayOf(period.fromMs)) used += amount;
  const [today = 0, ...others] = found.values;
  // A day that has passed what was forecast for it ends with what it has.
  const restOfToday = Math.max(0, today - (byDay.get(dayOf(nowMs)) ?? 0));
  return known(Math.round(others.reduce((sum, value) => sum + value, used + restOfToday)));
};
