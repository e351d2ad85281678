import { forecast as forecastValues, minValues } from '../../queries/forecast/forecast.ts';
import { knownNumber, type NumberOrReason, unknownNumber } from '../../queries/unknown.ts';

const dayMs = 86_400_000;
/** Days of history for the forecast; five weeks cover weekly patterns */
export const historyDays = 35;
const weekDays = 7;

const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export interface ForecastInput {
  /**
   * Accepted amount by day, `YYYY-MM-DD` → amount, over the period and the `historyDays` before now; days without volume
   * are omitted
   */
  readonly byDay: ReadonlyMap<string, number>;
  readonly period: { readonly fromMs: number; readonly endMs: number };
  readonly nowMs: number;
  /** First day with data */
  readonly firstDay: string | undefined;
}

/**
 * Returns the forecast of the period's total: the current amount, and a forecast of the remaining days from the
 * complete days before (`queries/forecast/`). The very first day is incomplete and excluded. Days without volume count
 * as 0.
 */
export const forecastTotal = ({ byDay, period, nowMs, firstDay }: ForecastInput): NumberOrReason => {
  if (nowMs >= period.endMs) return unknownNumber('the period is over');
  const complete: number[] = [];
  for (let index = 1; index <= historyDays; index++) {
    const day = toDay(nowMs - index * dayMs);
    if (firstDay === undefined || day <= firstDay) break;
    complete.unshift(byDay.get(day) ?? 0);
  }
  const startOfToday = nowMs - (nowMs % dayMs);
  const horizon = Math.ceil((period.endMs - startOfToday) / dayMs);
  const found = forecastValues(complete, { horizon, periods: [weekDays], kind: 'count' });
  if (found === undefined)
    return unknownNumber(`complete days of history: ${complete.length}; a forecast needs ${minValues}`);
  let used = 0;
  for (const [day, amount] of byDay) if (day >= toDay(period.fromMs)) used += amount;
  const [today = 0, ...others] = found.values;
  // If today's amount already exceeds its forecast, no more is added for today.
  const restOfToday = Math.max(0, today - (byDay.get(toDay(nowMs)) ?? 0));
  return knownNumber(Math.round(others.reduce((sum, value) => sum + value, used + restOfToday)));
};
