import { type Known, known, unknown } from '../../queries/unknown.ts';

const dayMs = 86_400_000;
/** A week, so that each day of it weighs the same. */
export const basisDays = 7;
const fewestDays = 2;

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
 * What the period will have when it ends: what it has, and for each day that is left the mean of the last complete days, a
 * week of them at most. The first day of all is not complete. Days without volume count as 0.
 */
export const forecast = ({ byDay, period, nowMs, firstDay }: ForecastInput): Known => {
  if (nowMs >= period.endMs) return unknown('the period is over');
  const complete: number[] = [];
  for (let index = 1; index <= basisDays; index++) {
    const day = dayOf(nowMs - index * dayMs);
    if (firstDay === undefined || day <= firstDay) break;
    complete.push(byDay.get(day) ?? 0);
  }
  if (complete.length < fewestDays)
    return unknown(`complete days of history: ${complete.length}; a forecast needs ${fewestDays}`);
  const mean = complete.reduce((sum, amount) => sum + amount, 0) / complete.length;
  let used = 0;
  for (const [day, amount] of byDay) if (day >= dayOf(period.fromMs)) used += amount;
  const startOfToday = nowMs - (nowMs % dayMs);
  const today = byDay.get(dayOf(nowMs)) ?? 0;
  // A day that has passed its mean already ends with what it has.
  const restOfToday = Math.max(0, mean - today);
  return known(Math.round(used + restOfToday + (mean * (period.endMs - startOfToday - dayMs)) / dayMs));
};
