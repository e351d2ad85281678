/** Evaluates time intervals of a routing document, in their time zones. */
import {
  type AlertRouting,
  type Bounds,
  type TimeInterval,
  timeRanges,
} from '../../../schemas/resources/alert-routing.ts';

/** Wall-clock time and date in a time zone */
interface WallTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly minute: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
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
  formats.set(timeZone, made);
  return made;
};

const wallTimeOf = (atMs: number, timeZone: string): WallTime => {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(timeZone).formatToParts(atMs)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts;
  return {
    year,
    month,
    day,
    weekday: new Date(Date.UTC(year, month - 1, day)).getUTCDay(),
    minute: hour * 60 + minute,
  };
};

const isIn = (value: number, [first, last]: Bounds): boolean => value >= first && value <= last;

const hasDay = ({ year, month, day }: WallTime, [first, last]: Bounds): boolean => {
  const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const from = first < 0 ? days + first + 1 : first;
  return from <= days && isIn(day, [from, last < 0 ? days + last + 1 : last]);
};

/** Returns whether the value is in one of the ranges; `true` without ranges. */
const some = (
  texts: readonly string[] | undefined,
  read: (text: string) => Bounds | undefined,
  holds: (bounds: Bounds) => boolean,
): boolean =>
  texts === undefined ||
  texts.some((text) => {
    const bounds = read(text);
    return bounds !== undefined && holds(bounds);
  });

/** Returns whether the interval contains that time. */
export const holdsAt = (interval: TimeInterval, atMs: number): boolean => {
  const wall = wallTimeOf(atMs, interval.location);
  const { minute, ...ranges } = timeRanges;
  return (
    (interval.times === undefined ||
      interval.times.some(
        ({ startTime, endTime }) => wall.minute >= (minute(startTime) ?? 1440) && wall.minute < (minute(endTime) ?? 0),
      )) &&
    some(interval.daysOfMonth, ranges.daysOfMonth, (bounds) => hasDay(wall, bounds)) &&
    some(interval.months, ranges.months, (bounds) => isIn(wall.month, bounds)) &&
    some(interval.weekdays, ranges.weekdays, (bounds) => isIn(wall.weekday, bounds)) &&
    some(interval.years, ranges.years, (bounds) => isIn(wall.year, bounds))
  );
};

/** Returns the reason why a route is muted at a time; `undefined` if it is active. */
export const mutedByTime = (
  { timeIntervals }: Pick<AlertRouting, 'timeIntervals'>,
  {
    muteTimeIntervals,
    activeTimeIntervals,
  }: { readonly muteTimeIntervals: readonly string[]; readonly activeTimeIntervals: readonly string[] },
  atMs: number,
): string | undefined => {
  const holds = (intervalName: string): boolean =>
    timeIntervals.some(
      ({ name, timeIntervals: parts }) => name === intervalName && parts.some((part) => holdsAt(part, atMs)),
    );
  const muting = muteTimeIntervals.find(holds);
  if (muting !== undefined) return `it is muted by the time interval ${muting}`;
  if (activeTimeIntervals.length === 0 || activeTimeIntervals.some(holds)) return undefined;
  return `no active time interval applies: ${activeTimeIntervals.join(', ')}`;
};
