/** Formats times in the preferred time zone and format */
import { computed, signal } from '@preact/signals';
import { findInstant, type ZoneClock } from '../../runtime/calendar.ts';

/** Time preferences */
export interface TimePreferences {
  /** `browser`, or an IANA name */
  readonly timeZone: string;
  readonly timeFormat: '24h' | '12h';
  readonly dateFormat: 'iso' | 'day-month-year' | 'month-day-year';
}

const timePreferences = signal<TimePreferences>({ timeZone: 'browser', timeFormat: '24h', dateFormat: 'iso' });

/** Time zone for display: `browser`, or an IANA name */
export const displayTimeZone = computed(() => timePreferences.value.timeZone);

/** Returns the IANA name of the time zone for display. */
export const getTimeZoneName = (): string =>
  displayTimeZone.value === 'browser' ? Intl.DateTimeFormat().resolvedOptions().timeZone : displayTimeZone.value;

export const setTimePreferences = ({ timeZone, timeFormat, dateFormat }: TimePreferences): void => {
  offsets.clear();
  timePreferences.value = { timeZone, timeFormat, dateFormat };
};

/** Granularity of UTC offset changes */
const quarterMs = 900_000;
/** Cached UTC offsets of the time zone by quarter hour, because computing one takes a hundred times as long */
const offsets = new Map<number, number>();

/** Returns the UTC offset of a time zone, in milliseconds. */
const getOffset = (ms: number, timeZone: string): number => {
  if (timeZone === 'browser') return -new Date(ms).getTimezoneOffset() * 60_000;
  if (timeZone === 'UTC') return 0;
  const quarter = Math.floor(ms / quarterMs) * quarterMs;
  const cachedOffset = offsets.get(quarter);
  if (cachedOffset !== undefined) return cachedOffset;
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(quarter);
  const readPart = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  const localTime = Date.UTC(
    readPart('year'),
    readPart('month') - 1,
    readPart('day'),
    readPart('hour'),
    readPart('minute'),
    readPart('second'),
  );
  offsets.set(quarter, localTime - quarter);
  return localTime - quarter;
};

/** Wall time of the time zone for display */
export const displayClock: ZoneClock = {
  getWallTime: (atMs) => atMs + getOffset(atMs, displayTimeZone.value),
  getInstant: (wallMs) => findInstant(wallMs, (atMs) => getOffset(atMs, displayTimeZone.value)),
};

const dates: Readonly<Record<TimePreferences['dateFormat'], (year: string, month: string, day: string) => string>> = {
  iso: (year, month, day) => `${year}-${month}-${day}`,
  'day-month-year': (year, month, day) => `${day}-${month}-${year}`,
  'month-day-year': (year, month, day) => `${month}-${day}-${year}`,
};

/** Returns a time in the preferred format, for example `01:05 PM` for `13:05`. */
const toPreferredClock = (time: string): string => {
  if (timePreferences.value.timeFormat === '24h') return time;
  const hour = Number(time.slice(0, 2));
  return `${String(hour % 12 === 0 ? 12 : hour % 12).padStart(2, '0')}${time.slice(2)} ${hour < 12 ? 'AM' : 'PM'}`;
};

/** Formats the date, and the first `length` characters of a time such as `12:00:00.123`. */
const formatParts = (ms: number, length: number): readonly [date: string, time: string] => {
  const { timeZone, dateFormat } = timePreferences.value;
  // With the offset added, the UTC date and time are those of the time zone.
  const [date = '', time = ''] = new Date(ms + getOffset(ms, timeZone)).toISOString().slice(0, -1).split('T');
  // A year before 0 or after 9999 has a sign and six digits.
  const [, year = '', month = '', day = ''] = /^(.*)-(\d\d)-(\d\d)$/.exec(date) ?? [];
  return [dates[dateFormat](year, month, day), toPreferredClock(time.slice(0, length))];
};

/** Formats a time in epoch milliseconds, for example as `2026-01-31 12:00:00.123`. */
export const formatTime = (
  ms: number,
  { withDate = true, isIso = false }: { readonly withDate?: boolean; readonly isIso?: boolean } = {},
): string => {
  if (isIso) return new Date(displayClock.getWallTime(ms)).toISOString().slice(0, -1).replace('T', ' ');
  const [date, time] = formatParts(ms, 12);
  return withDate ? `${date} ${time}` : time;
};

const dayFormat = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** Formats a day without its year, for example as `Nov 28`. */
export const formatDay = (ms: number): string => dayFormat.format(displayClock.getWallTime(ms));

/** Formats a time span, for example as `Nov 28, 19:11 – 20:11`; with seconds if it is shorter than ten minutes. */
export const formatTimeSpan = (from: number, to: number): string => {
  const formatClock = to - from < 600_000 ? formatClockTime : formatShortTime;
  const [firstDay, lastDay] = [formatDay(from), formatDay(to)];
  return `${firstDay}, ${formatClock(from)} – ${lastDay === firstDay ? '' : `${lastDay}, `}${formatClock(to)}`;
};

/** Formats an ISO 8601 time; `null` becomes an empty text. */
export const formatIsoTime = (text: string | null): string => (text === null ? '' : formatTime(Date.parse(text)));

/** Formats an ISO 8601 time to the second, for example as `2026-01-31 12:00:00`; `null` becomes an empty text. */
export const formatIsoSecond = (text: string | null): string =>
  text === null ? '' : formatParts(Date.parse(text), 8).join(' ');

/** Formats a time to the minute, for example as `2026-01-31 12:00`. */
export const formatMinute = (ms: number): string => formatParts(ms, 5).join(' ');

/** Formats an ISO 8601 time to the minute; `null` becomes an empty text. */
export const formatIsoMinute = (text: string | null): string => (text === null ? '' : formatMinute(Date.parse(text)));

/** Formats a time, for example as `12:00`, for the ends of an axis. */
export const formatShortTime = (ms: number): string => formatParts(ms, 5)[1];

/** Formats a time, for example as `12:00:00`. */
export const formatClockTime = (ms: number): string => formatParts(ms, 8)[1];
