import type { SloObjective } from '../../schemas/slo-slices.ts';
import { periodAt } from '../slos/slices/windows.ts';
import type { TimeSpan } from './uptime.ts';

/** A Monday, on which weeks start, and the start of every other period */
const calendarStart = '2024-01-01T00:00';

export const maxPeriods = 400;

/**
 * Returns the calendar periods of a range, cut at its ends; without a period, the full range. `undefined` if there are
 * too many.
 */
export const splitPeriods = (
  range: TimeSpan,
  {
    period,
    timeZone,
  }: { readonly period?: NonNullable<SloObjective['calendar']>['period'] | undefined; readonly timeZone: string },
): readonly TimeSpan[] | undefined => {
  if (range.fromMs >= range.toMs) return [];
  if (period === undefined) return [range];
  const periods: TimeSpan[] = [];
  for (let fromMs = range.fromMs; fromMs < range.toMs; ) {
    if (periods.length >= maxPeriods) return undefined;
    const toMs = Math.min(periodAt({ period, timeZone, startsAt: calendarStart }, fromMs).toMs, range.toMs);
    periods.push({ fromMs, toMs });
    fromMs = toMs;
  }
  return periods;
};
