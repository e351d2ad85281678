import { forecast as forecastValues, minValues } from '../../queries/forecast/forecast.ts';
import { type NumberOrReason, toKnownNumber, toUnknownNumber } from '../../queries/unknown-numbers.ts';

const dayMs = 86_400_000;
/** Days of history for the forecast; five weeks cover weekly patterns */
export const historyDays = 35;
const weekDays = 7;

const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export interface ForecastInput {
  /**
   * Accepted amount by day (`YYYY-MM-DD`), for the period and for the `historyDays` before now. Days without volume
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
 * complete days before (`queries/forecast/`). The first day with data is excluded, because it is incomplete. Days
 * without volume count
 * as 0.
 */
export const forecastTotal = ({ byDay, period, nowMs, firstDay }: ForecastInput): NumberOrReason => {
  if (nowMs >= period.endMs) return toUnknownNumber('the period is over');
  const completeDays: number[] = [];
  for (let index = 1; index <= historyDays; index++) {
    const day = toDay(nowMs - index * dayMs);
    if (firstDay === undefined || day <= firstDay) break;
    completeDays.unshift(byDay.get(day) ?? 0);
  }
  const startOfToday = nowMs - (nowMs % dayMs);
  const horizon = Math.ceil((period.endMs - startOfToday) / dayMs);
  const forecast = forecastValues(completeDays, { horizon, periods: [weekDays], kind: 'count' });
  if (forecast === undefined)
    return toUnknownNumber(`complete days of history: ${completeDays.length}; a forecast needs ${minValues}`);
  let usedAmount = 0;
  for (const [day, amount] of byDay) if (day >= toDay(period.fromMs)) usedAmount += amount;
  const [today = 0, ...laterDays] = forecast.values;
  // If today's amount already exceeds its forecast, no more is added for today.
  const restOfToday = Math.max(0, today - (byDay.get(toDay(nowMs)) ?? 0));
  return toKnownNumber(Math.round(laterDays.reduce((sum, value) => sum + value, usedAmount + restOfToday)));
};
