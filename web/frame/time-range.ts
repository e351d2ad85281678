/** Time range of the page. The URL has the range as typed, so a relative range such as `now-1h` follows the time. */
import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { formatTime, parseTime } from '../../queries/time.ts';
import { readParam, setParams } from './address.ts';
import { displayClock, formatTimeSpan } from './format-time.ts';

/** Time range as in request parameters, for example `now-1h` to `now` */
export interface TimeRange {
  readonly from: string;
  readonly to: string;
}

const lastHour: TimeRange = { from: 'now-1h', to: 'now' };
/** Range if the URL has none */
export const defaultRange = signal(lastHour);

/** Sets the default range while a view is displayed, for example a dashboard with its own range. */
export const useDefaultRange = (from: string | undefined, to: string | undefined): void =>
  useEffect(() => {
    if (from !== undefined && to !== undefined) defaultRange.value = { from, to };
    return () => {
      defaultRange.value = lastHour;
    };
  }, [from, to]);

/** Preset ranges */
export const presets: readonly (readonly [from: string, title: string])[] = [
  ['now-5m', 'Last 5 minutes'],
  ['now-15m', 'Last 15 minutes'],
  ['now-30m', 'Last 30 minutes'],
  ['now-1h', 'Last hour'],
  ['now-3h', 'Last 3 hours'],
  ['now-6h', 'Last 6 hours'],
  ['now-12h', 'Last 12 hours'],
  ['now-24h', 'Last 24 hours'],
  ['now-2d', 'Last 2 days'],
  ['now-7d', 'Last 7 days'],
  ['now-30d', 'Last 30 days'],
  ['now-90d', 'Last 90 days'],
  ['now/d', 'Today so far'],
  ['now/w', 'This week so far'],
  ['now/M', 'This month so far'],
];

/** The range as typed */
export const typedRange = computed<TimeRange>(() => ({
  from: readParam('from') || defaultRange.value.from,
  to: readParam('to') || defaultRange.value.to,
}));

/** Incremented to reload the displayed data */
export const refreshCount = signal(0);

/** Matches expressions of calendar units, which the API evaluates in UTC */
const calendarPattern = /^now.*[/MQy]/;

/** Converts an expression of calendar units such as `now/d`, in the time zone for display; returns other texts unchanged. */
const resolveCalendarTime = (text: string, edge: 'start' | 'end'): string => {
  if (!calendarPattern.test(text)) return text;
  // Days go on while a view is open.
  void refreshCount.value;
  const timeNs = parseTime(text, Date.now(), { edge, clock: displayClock });
  return timeNs === undefined ? text : formatTime(timeNs);
};

/** The range for requests */
export const timeRange = computed<TimeRange>(() => ({
  from: resolveCalendarTime(typedRange.value.from, 'start'),
  to: resolveCalendarTime(typedRange.value.to, 'end'),
}));

export const refresh = (): void => {
  refreshCount.value++;
};

/** Matches a date with an optional time, without a time zone */
const localTimePattern = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?)?$/;

/**
 * Converts a typed time to request syntax. A time without a time zone is of the time zone for display. The number of
 * digits of a Unix time selects its unit: seconds, microseconds or nanoseconds.
 */
export const toRequestTime = (text: string): string => {
  const trimmed = text.trim();
  const [, date, time = '00:00', seconds = ':00'] = localTimePattern.exec(trimmed) ?? [];
  const wallMs = date === undefined ? Number.NaN : Date.parse(`${date}T${time}${seconds}Z`);
  if (!Number.isNaN(wallMs)) return new Date(displayClock.getInstant(wallMs)).toISOString();
  if (/^[1-9]\d{9}$/.test(trimmed)) return `${trimmed}000`;
  if (/^[1-9]\d{15}$/.test(trimmed)) return trimmed.slice(0, -3);
  if (/^[1-9]\d{18}$/.test(trimmed)) return trimmed.slice(0, -6);
  return trimmed;
};

/** Returns a time in epoch milliseconds; `undefined` for an invalid text. */
export const toMilliseconds = (text: string, edge: 'start' | 'end' = 'start'): number | undefined => {
  const nanoseconds = parseTime(text, Date.now(), { edge, clock: displayClock });
  return nanoseconds === undefined ? undefined : Number(nanoseconds / 1_000_000n);
};

/** Returns the errors of a range by field; empty if there are none. */
export const findRangeProblems = ({ from, to }: TimeRange): { readonly from?: string; readonly to?: string } => {
  const formatHint = 'Use ISO-8601 (2026-01-31T12:00), now-15m, now/d, or seconds or milliseconds since 1970.';
  const [start, end] = [toMilliseconds(from), toMilliseconds(to, 'end')];
  if (start === undefined || end === undefined)
    return { ...(start === undefined ? { from: formatHint } : {}), ...(end === undefined ? { to: formatHint } : {}) };
  return start > end ? { from: 'The start must be before the end.' } : {};
};

const recentKey = 'oiq-recent-ranges';
const maxRecentRanges = 5;

const readRecentRanges = (): readonly TimeRange[] => {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(recentKey) ?? '[]');
    const isRange = (item: unknown): item is TimeRange =>
      typeof item === 'object' && item !== null && 'from' in item && 'to' in item;
    return Array.isArray(stored) ? stored.filter(isRange).slice(0, maxRecentRanges) : [];
  } catch {
    return [];
  }
};

/** Ranges other than presets that were set in this browser, the latest first */
export const recentRanges = signal(readRecentRanges());

const addRecentRange = ({ from, to }: TimeRange): void => {
  if (to === 'now' && presets.some(([start]) => start === from)) return;
  const earlier = recentRanges.value.filter((range) => range.from !== from || range.to !== to);
  recentRanges.value = [{ from, to }, ...earlier].slice(0, maxRecentRanges);
  localStorage.setItem(recentKey, JSON.stringify(recentRanges.value));
};

/** Whether charts also show the period before the range */
export const comparesPrevious = computed(() => readParam('compare') === 'previous');

export const setComparesPrevious = (isCompared: boolean): void =>
  setParams({ compare: isCompared ? 'previous' : '' }, { replace: true });

/** Sets the range in the URL, which omits default values. */
export const setRange = ({ from, to }: TimeRange): void => {
  addRecentRange({ from, to });
  const defaults = defaultRange.value;
  setParams({ from: from === defaults.from ? '' : from, to: to === defaults.to ? '' : to });
};

/** Sets a range in epoch milliseconds. */
export const setRangeInMs = (from: number, to: number): void =>
  setRange({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });

/** Doubles the range around its middle, without exceeding the current time. */
export const zoomOut = (): void => {
  const [from, to] = [toMilliseconds(timeRange.value.from), toMilliseconds(timeRange.value.to)];
  if (from === undefined || to === undefined) return;
  const halfLength = (to - from) / 2;
  setRangeInMs(from - halfLength, Math.min(to + halfLength, Date.now()));
};

const relativePattern = /^now-(\d+)([mhdw])$/;
const unitNames: Readonly<Record<string, string>> = { m: 'minute', h: 'hour', d: 'day', w: 'week' };

/** Returns the title of the range, for example `Last 45 minutes` or `Nov 28, 19:11 – 20:11`. */
export const toRangeTitle = ({ from, to }: TimeRange): string => {
  const preset = to === 'now' ? presets.find(([start]) => start === from) : undefined;
  if (preset !== undefined) return preset[1];
  const [, amount = '', unit = ''] = (to === 'now' ? relativePattern.exec(from) : null) ?? [];
  if (amount !== '') return `Last ${amount} ${unitNames[unit]}${amount === '1' ? '' : 's'}`;
  const [start, end] = [toMilliseconds(from), toMilliseconds(to, 'end')];
  return start === undefined || end === undefined ? `${from} to ${to}` : formatTimeSpan(start, end);
};
