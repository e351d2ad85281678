/** Time settings of OpenSLO: durations of windows and slices, and calendar starts */

import { parseWallTime } from '../../../runtime/wall-clock.ts';
import { formatDuration } from '../../alerts/durations.ts';
import type { SloFields } from '../document.ts';
import type { Calendar } from '../slices/windows.ts';
import type { Fields } from './objects.ts';

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const dayMs = unitMs.d;

/** Calendar periods by length, in days or months */
const periodsByDays: Readonly<Record<number, Calendar['period']>> = { 1: 'day', 7: 'week' };
const periodsByMonths: Readonly<Record<number, Calendar['period']>> = { 1: 'month', 3: 'quarter', 12: 'year' };

/** A length in months, or in milliseconds for days and less */
type DurationLength = { readonly ms: number } | { readonly months: number };

const parseLength = (text: string): DurationLength | undefined => {
  const [, digits, unit] = /^([1-9]\d{0,5})([mhdwMQY])$/.exec(text) ?? [];
  const count = Number(digits);
  if (unit === 'M' || unit === 'Q' || unit === 'Y') return { months: count * { M: 1, Q: 3, Y: 12 }[unit] };
  return unit === undefined ? undefined : { ms: count * unitMs[unit as keyof typeof unitMs] };
};

/** Window fields of an SLO */
export type WindowFields = Pick<SloFields, 'windowDays'> | { readonly calendar: Calendar };

const parseCalendar = (calendar: Fields, period: Calendar['period']): Calendar | undefined => {
  const [startTime, timeZone] = [calendar.text('startTime'), calendar.text('timeZone')];
  calendar.reportUnread();
  if (startTime === undefined || timeZone === undefined) return undefined;
  const [, date, time] = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(?::00)?$/.exec(startTime) ?? [];
  const startsAt = `${date}T${time}`;
  return parseWallTime(startsAt) === undefined
    ? calendar.fail('startTime', 'must be a date and time to the minute, such as 2026-01-01 00:00:00')
    : { period, timeZone, startsAt };
};

/** Returns a window of the length in the field `key`. */
export const parseWindow = (window: Fields, length: DurationLength, key: string): WindowFields | undefined => {
  const calendar = window.map('calendar', false);
  const isRolling = window.flag('isRolling') ?? calendar === undefined;
  window.reportUnread();
  if (isRolling) {
    if (calendar !== undefined) return window.fail('calendar', 'must not be set for a rolling window');
    if ('months' in length)
      return window.fail(key, 'cannot be rolling in months, which have no fixed number of days: use days, such as 30d');
    if (length.ms % dayMs !== 0) return window.fail(key, 'must be whole days');
    return { windowDays: length.ms / dayMs };
  }
  if (calendar === undefined) return window.fail('', 'must be rolling or have a calendar');
  const period = 'months' in length ? periodsByMonths[length.months] : periodsByDays[length.ms / dayMs];
  if (period === undefined) return window.fail(key, 'must be one calendar day, week, month, quarter or year');
  const parsedCalendar = parseCalendar(calendar, period);
  return parsedCalendar && { calendar: parsedCalendar };
};

/** Parses a window of v1 and v2alpha. */
export const parseDurationWindow = (window: Fields): WindowFields | undefined => {
  const text = window.text('duration');
  if (text === undefined) return undefined;
  const length = parseLength(text);
  if (length === undefined)
    return window.fail('duration', `is ${text}: write a number and one of m, h, d, w, M, Q, Y, such as 30d`);
  if (/m$/.test(text))
    return window.fail('duration', `is ${text}, which means minutes: for months write ${text.slice(0, -1)}M`);
  return parseWindow(window, length, 'duration');
};

const unitLengths: Readonly<Record<string, DurationLength>> = {
  Second: { ms: 1000 },
  Day: { ms: dayMs },
  Week: { ms: unitMs.w },
  Month: { months: 1 },
  Quarter: { months: 3 },
};

/** Parses a window of v1alpha. */
export const parseUnitWindow = (window: Fields): WindowFields | undefined => {
  const [count, unit] = [window.number('count'), window.text('unit')];
  if (count === undefined || unit === undefined) return undefined;
  if (!Number.isInteger(count) || count < 1) return window.fail('count', 'must be an integer of at least 1');
  const length = unitLengths[unit];
  if (length === undefined) return window.fail('unit', `must be one of ${Object.keys(unitLengths).join(', ')}`);
  const windowLength = 'months' in length ? { months: count * length.months } : { ms: count * length.ms };
  return parseWindow(window, windowLength, 'count');
};

/** Returns the slice length of an objective. */
export const parseSlice = (objective: Fields): string | undefined => {
  const text = objective.text('timeSliceWindow', false);
  if (text === undefined) return undefined;
  const length = parseLength(text);
  return length === undefined || 'months' in length
    ? objective.fail('timeSliceWindow', `is ${text}: write a number and one of m, h, d, such as 5m`)
    : formatDuration(length.ms);
};

/** Calendar periods as named by v1 and v2alpha */
export const periodTexts: Readonly<Record<Calendar['period'], string>> = {
  day: '1d',
  week: '1w',
  month: '1M',
  quarter: '1Q',
  year: '1Y',
};
