/** Evaluates time intervals of a routing document, in their time zones. */
import {
  type AlertRouting,
  type Bounds,
  type TimeInterval,
  timeRanges,
} from '../../../schemas/resources/alert-routing.ts';

/** Local date and time in a time zone */
interface WallTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly minute: number;
}

const timeFormats = new Map<string, Intl.DateTimeFormat>();

const getTimeFormat = (timeZone: string): Intl.DateTimeFormat => {
  const cachedFormat = timeFormats.get(timeZone);
  if (cachedFormat !== undefined) return cachedFormat;
  const timeFormat = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  timeFormats.set(timeZone, timeFormat);
  return timeFormat;
};

const toWallTime = (atMs: number, timeZone: string): WallTime => {
  const parts: Record<string, number> = {};
  for (const { type, value } of getTimeFormat(timeZone).formatToParts(atMs)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts;
  return {
    year,
    month,
    day,
    weekday: new Date(Date.UTC(year, month - 1, day)).getUTCDay(),
    minute: hour * 60 + minute,
  };
};

const isWithin = (value: number, [first, last]: Bounds): boolean => value >= first && value <= last;

const isDayWithin = ({ year, month, day }: WallTime, [first, last]: Bounds): boolean => {
  const daysInMonth = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const from = first < 0 ? daysInMonth + first + 1 : first;
  return from <= daysInMonth && isWithin(day, [from, last < 0 ? daysInMonth + last + 1 : last]);
};

/** Returns whether the value is in one of the ranges; `true` without ranges. */
const isInAnyRange = (
  texts: readonly string[] | undefined,
  parse: (text: string) => Bounds | undefined,
  isInRange: (bounds: Bounds) => boolean,
): boolean =>
  texts === undefined ||
  texts.some((text) => {
    const bounds = parse(text);
    return bounds !== undefined && isInRange(bounds);
  });

const isWeekdayWithin = (weekday: number, [first, last]: Bounds): boolean =>
  first <= last ? isWithin(weekday, [first, last]) : weekday >= first || weekday <= last;

/** Returns whether the interval contains that time. */
export const intervalContains = (interval: TimeInterval, atMs: number): boolean => {
  const wallTime = toWallTime(atMs, interval.location);
  const { parseMinute, ...ranges } = timeRanges;
  return (
    (interval.times === undefined ||
      interval.times.some(
        ({ startTime, endTime }) =>
          wallTime.minute >= (parseMinute(startTime) ?? 1440) && wallTime.minute < (parseMinute(endTime) ?? 0),
      )) &&
    isInAnyRange(interval.daysOfMonth, ranges.daysOfMonth, (bounds) => isDayWithin(wallTime, bounds)) &&
    isInAnyRange(interval.months, ranges.months, (bounds) => isWithin(wallTime.month, bounds)) &&
    isInAnyRange(interval.weekdays, ranges.weekdays, (bounds) => isWeekdayWithin(wallTime.weekday, bounds)) &&
    isInAnyRange(interval.years, ranges.years, (bounds) => isWithin(wallTime.year, bounds))
  );
};

/** Returns the reason why a route is muted at a time; `undefined` if it is active. */
export const findTimeMuteReason = (
  { timeIntervals }: Pick<AlertRouting, 'timeIntervals'>,
  {
    muteTimeIntervals,
    activeTimeIntervals,
  }: { readonly muteTimeIntervals: readonly string[]; readonly activeTimeIntervals: readonly string[] },
  atMs: number,
): string | undefined => {
  const intervalApplies = (intervalName: string): boolean =>
    timeIntervals.some(
      ({ name, timeIntervals: parts }) => name === intervalName && parts.some((part) => intervalContains(part, atMs)),
    );
  const mutingInterval = muteTimeIntervals.find(intervalApplies);
  if (mutingInterval !== undefined) return `it is muted by the time interval ${mutingInterval}`;
  if (activeTimeIntervals.length === 0 || activeTimeIntervals.some(intervalApplies)) return undefined;
  return `no active time interval applies: ${activeTimeIntervals.join(', ')}`;
};
