/** Formats times in the preferred time zone and format */
import { computed, signal } from '@preact/signals';

/** Time preferences */
export interface TimeForm {
  /** `browser`, or an IANA name */
  readonly timeZone: string;
  readonly timeFormat: '24h' | '12h';
  readonly dateFormat: 'iso' | 'day-month-year' | 'month-day-year';
}

const form = signal<TimeForm>({ timeZone: 'browser', timeFormat: '24h', dateFormat: 'iso' });

/** Time zone for display: `browser`, or an IANA name */
export const zone = computed(() => form.value.timeZone);

export const setTimeForm = ({ timeZone, timeFormat, dateFormat }: TimeForm): void => {
  offsets.clear();
  form.value = { timeZone, timeFormat, dateFormat };
};

/** Granularity of UTC offset changes */
const quarterMs = 900_000;
/** Offset of the zone by quarter hour: a lookup costs a hundred times as much as the addition */
const offsets = new Map<number, number>();

/** Returns the offset of the zone from UTC, in milliseconds. */
const offsetAt = (ms: number, timeZone: string): number => {
  if (timeZone === 'browser') return -new Date(ms).getTimezoneOffset() * 60_000;
  if (timeZone === 'UTC') return 0;
  const quarter = Math.floor(ms / quarterMs) * quarterMs;
  const known = offsets.get(quarter);
  if (known !== undefined) return known;
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
  const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  const shown = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  offsets.set(quarter, shown - quarter);
  return shown - quarter;
};

const dates: Readonly<Record<TimeForm['dateFormat'], (year: string, month: string, day: string) => string>> = {
  iso: (year, month, day) => `${year}-${month}-${day}`,
  'day-month-year': (year, month, day) => `${day}-${month}-${year}`,
  'month-day-year': (year, month, day) => `${month}-${day}-${year}`,
};

/** Returns `1:05` and `PM` for `13:05` on 12-hour clocks. */
const timeOf = (time: string): string => {
  if (form.value.timeFormat === '24h') return time;
  const hour = Number(time.slice(0, 2));
  return `${String(hour % 12 === 0 ? 12 : hour % 12).padStart(2, '0')}${time.slice(2)} ${hour < 12 ? 'AM' : 'PM'}`;
};

/** Returns the date, and the time truncated to a number of characters of `12:00:00.123`. */
const partsOf = (ms: number, length: number): readonly [date: string, time: string] => {
  const { timeZone, dateFormat } = form.value;
  // After adding the zone's offset, the UTC parts are those of the zone.
  const [date = '', time = ''] = new Date(ms + offsetAt(ms, timeZone)).toISOString().slice(0, -1).split('T');
  // A year before 0 or after 9999 has a sign and six digits.
  const [, year = '', month = '', day = ''] = /^(.*)-(\d\d)-(\d\d)$/.exec(date) ?? [];
  return [dates[dateFormat](year, month, day), timeOf(time.slice(0, length))];
};

/** Formats a time in epoch milliseconds: `2026-01-31 12:00:00.123`. */
export const shownTime = (ms: number, { withDate = true }: { readonly withDate?: boolean } = {}): string => {
  const [date, time] = partsOf(ms, 12);
  return withDate ? `${date} ${time}` : time;
};

/** Formats an ISO-8601 time of a response; empty if there is none. */
export const shownMoment = (text: string | null): string => (text === null ? '' : shownTime(Date.parse(text)));

/** Formats a time as `12:00`, for the ends of an axis. */
export const shortTime = (ms: number): string => partsOf(ms, 5)[1];

/** Formats a time as `12:00:00`. */
export const clockTime = (ms: number): string => partsOf(ms, 8)[1];
