/** Days of an on-call calendar. A day is its midnight in the time zone for display, as if it were UTC. */
import { addMonths, floorToUnit } from '../../../runtime/calendar.ts';
import { displayClock } from '../../frame/format-time.ts';

export const dayMs = 86_400_000;
export const daysPerWeek = 7;

export type CalendarPeriod = 'week' | 'month';

/** Returns consecutive days. */
export const listDays = (firstDay: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => firstDay + index * dayMs);

/** Returns the days of the week, or of the weeks of the month, that contain a day. Weeks begin on Monday. */
export const listPeriodDays = (period: CalendarPeriod, day: number): readonly number[] => {
  if (period === 'week') return listDays(floorToUnit(day, 'w'), daysPerWeek);
  const firstDay = floorToUnit(floorToUnit(day, 'M'), 'w');
  const lastDay = addMonths(floorToUnit(day, 'M'), 1) - dayMs;
  return listDays(firstDay, (floorToUnit(lastDay, 'w') - firstDay) / dayMs + daysPerWeek);
};

/** Returns the day that a number of periods later shows. */
export const addPeriods = (period: CalendarPeriod, day: number, count: number): number =>
  period === 'week' ? day + count * daysPerWeek * dayMs : addMonths(day, count);

/** Returns the first instant of a day and the first after it. A day with a clock change has 23 or 25 hours. */
export const findDayBounds = (day: number): { readonly startMs: number; readonly endMs: number } => ({
  startMs: displayClock.getInstant(day),
  endMs: displayClock.getInstant(day + dayMs),
});

/** Formats a day for the address, for example as `2026-01-31`. */
export const formatDayParam = (day: number): string => new Date(day).toISOString().slice(0, 10);

/** Parses a day of the address; `undefined` for an invalid text. */
export const parseDayParam = (text: string): number | undefined => {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
};
