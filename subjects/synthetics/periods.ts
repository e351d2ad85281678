import type { SloObjective } from '../../schemas/slo-slices.ts';
import { findPeriod } from '../slos/slices/windows.ts';
import type { TimePeriod } from './uptime.ts';

/** A Monday, on which weeks start, and the start of every other period */
const calendarStart = '2024-01-01T00:00';

export const maxPeriods = 400;

/**
 * Returns the calendar periods of a range, truncated at its ends. Without a period, returns the full range;
 * `undefined` if there are too many periods.
 */
export const splitPeriods = (
  range: TimePeriod,
  {
    period,
    timeZone,
  }: { readonly period?: NonNullable<SloObjective['calendar']>['period'] | undefined; readonly timeZone: string },
): readonly TimePeriod[] | undefined => {
  if (range.fromMs >= range.toMs) return [];
  if (period === undefined) return [range];
  const periods: TimePeriod[] = [];
  for (let fromMs = range.fromMs; fromMs < range.toMs; ) {
    if (periods.length >= maxPeriods) return undefined;
    const toMs = Math.min(findPeriod({ period, timeZone, startsAt: calendarStart }, fromMs).toMs, range.toMs);
    periods.push({ fromMs, toMs });
    fromMs = toMs;
  }
  return periods;
};
