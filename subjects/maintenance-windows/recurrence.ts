/** Recurrence of maintenance windows: the required subset of RFC 5545's `RRULE`, on the wall clock of a time zone */
import { getWallClock, parseWallTime } from '../../runtime/wall-clock.ts';

const dayMs = 86_400_000;
const weekdays = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
const frequencies = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const;

/** A weekday and its position in the month: 2 is the second, -1 the last, 0 each */
interface ByDay {
  readonly weekday: number;
  readonly ordinal: number;
}

/** A parsed recurrence rule */
export interface Recurrence {
  readonly frequency: (typeof frequencies)[number];
  readonly interval: number;
  readonly count?: number;
  /** Last possible start, as an instant, or on the wall clock if the rule specifies no zone */
  readonly until?: { readonly ms: number; readonly isWall: boolean };
  readonly byDay: readonly ByDay[];
  readonly byMonthDay: readonly number[];
  readonly byMonth: readonly number[];
  /** First day of the week, 0 for Sunday */
  readonly weekStart: number;
}

/** Thrown for an invalid rule; the message names the part */
export class RecurrenceError extends Error {
  override readonly name = 'RecurrenceError';
}

const parseInteger = (part: string, text: string, min: number, max: number): number => {
  const value = /^[+-]?\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max && (value !== 0 || min >= 0)) return value;
  throw new RecurrenceError(`${part}=${text} is out of range: write whole numbers from ${min} to ${max}`);
};

const parseWeekday = (part: string, text: string): number => {
  const weekday = weekdays.indexOf(text);
  if (weekday < 0) throw new RecurrenceError(`${part}: ${text} is not a weekday; write one of ${weekdays.join(', ')}`);
  return weekday;
};

const parseByDay = (text: string): ByDay => {
  const ordinal = text.slice(0, -2);
  return {
    weekday: parseWeekday('BYDAY', text.slice(-2)),
    ordinal: ordinal === '' ? 0 : parseInteger('BYDAY', ordinal, -5, 5),
  };
};

const parseUntil = (text: string): NonNullable<Recurrence['until']> => {
  const match = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/.exec(text);
  const [, year, month, day, hour = '23', minute = '59', second = '59', zone = ''] = match ?? [];
  const ms = parseWallTime(`${year}-${month}-${day}T${hour}:${minute}:${second}`);
  if (ms === undefined) throw new RecurrenceError(`UNTIL=${text} is not a date; write it as 20261231T235959Z`);
  return { ms, isWall: zone === '' };
};

const partParsers: Record<string, (text: string) => Partial<Recurrence>> = {
  FREQ(text) {
    const frequency = frequencies.find((value) => value === text);
    if (frequency === undefined)
      throw new RecurrenceError(`FREQ=${text} is not supported; write one of ${frequencies.join(', ')}`);
    return { frequency };
  },
  INTERVAL: (text) => ({ interval: parseInteger('INTERVAL', text, 1, 1000) }),
  COUNT: (text) => ({ count: parseInteger('COUNT', text, 1, 9999) }),
  UNTIL: (text) => ({ until: parseUntil(text) }),
  BYDAY: (text) => ({ byDay: text.split(',').map(parseByDay) }),
  BYMONTHDAY: (text) => ({ byMonthDay: text.split(',').map((value) => parseInteger('BYMONTHDAY', value, -31, 31)) }),
  BYMONTH: (text) => ({ byMonth: text.split(',').map((value) => parseInteger('BYMONTH', value, 1, 12)) }),
  WKST: (text) => ({ weekStart: parseWeekday('WKST', text) }),
};

const validateRule = (rule: Recurrence): void => {
  const { frequency, count, until, byDay, byMonth, byMonthDay } = rule;
  if (count !== undefined && until !== undefined) throw new RecurrenceError('COUNT and UNTIL are mutually exclusive');
  const isShort = frequency === 'DAILY' || frequency === 'WEEKLY';
  if (isShort && byDay.some(({ ordinal }) => ordinal !== 0)) {
    throw new RecurrenceError('BYDAY with a number needs FREQ=MONTHLY or YEARLY');
  }
  if (frequency === 'WEEKLY' && byMonthDay.length > 0) throw new RecurrenceError('BYMONTHDAY excludes FREQ=WEEKLY');
  if (frequency === 'YEARLY' && byDay.length > 0 && byMonth.length === 0) {
    throw new RecurrenceError('BYDAY with FREQ=YEARLY needs BYMONTH');
  }
};

/** Parses `FREQ=WEEKLY;BYDAY=SU`. Throws `RecurrenceError` for unknown or contradictory parts. */
export const parseRecurrence = (text: string): Recurrence => {
  let parts: Partial<Recurrence> = {};
  const seenNames = new Set<string>();
  for (const part of text.trim().toUpperCase().split(';')) {
    const [name = '', value = ''] = part.split('=', 2);
    const reader = Object.hasOwn(partParsers, name) ? partParsers[name] : undefined;
    if (reader === undefined)
      throw new RecurrenceError(
        `${name || 'an empty part'} is not supported; supported parts are ${Object.keys(partParsers).join(', ')}`,
      );
    if (seenNames.has(name)) throw new RecurrenceError(`${name} occurs twice`);
    seenNames.add(name);
    parts = { ...parts, ...reader(value) };
  }
  const { frequency } = parts;
  if (frequency === undefined) throw new RecurrenceError('FREQ is missing');
  const rule = { interval: 1, byDay: [], byMonthDay: [], byMonth: [], weekStart: 1, ...parts, frequency };
  validateRule(rule);
  return rule;
};

interface Month {
  readonly year: number;
  /** From 0. */
  readonly month: number;
  readonly days: number;
}

const toDate = (day: number): { readonly year: number; readonly month: number; readonly date: number } => {
  const time = new Date(day * dayMs);
  return { year: time.getUTCFullYear(), month: time.getUTCMonth(), date: time.getUTCDate() };
};
const toMonth = (index: number): Month => {
  const [year, month] = [Math.floor(index / 12), index - Math.floor(index / 12) * 12];
  return { year, month, days: new Date(Date.UTC(year, month + 1, 0)).getUTCDate() };
};
/** Days are counted from 1970-01-01, a Thursday. */
const getWeekday = (day: number): number => (day + 4) % 7;

/** Returns whether a day of a month matches the rule; parts that the rule omits default to those of the first day. */
const matchesRule = ({ byDay, byMonthDay }: Recurrence, first: number, day: number, { days }: Month): boolean => {
  const { date } = toDate(day);
  const isByDay = ({ weekday, ordinal }: ByDay): boolean =>
    weekday === getWeekday(day) &&
    (ordinal === 0 || ordinal === Math.ceil(date / 7) || -ordinal === Math.ceil((days - date + 1) / 7));
  if (byDay.length === 0 && byMonthDay.length === 0) return date === toDate(first).date;
  return (
    (byDay.length === 0 || byDay.some(isByDay)) &&
    (byMonthDay.length === 0 || byMonthDay.some((value) => value === date || value + days + 1 === date))
  );
};

const listDaysOfMonth = (rule: Recurrence, first: number, index: number): number[] => {
  const month = toMonth(index);
  const firstDay = Date.UTC(month.year, month.month, 1) / dayMs;
  return Array.from({ length: month.days }, (_, date) => firstDay + date).filter((day) =>
    matchesRule(rule, first, day, month),
  );
};

const listMonthsOfYear = ({ byMonth, byMonthDay }: Recurrence, first: number): readonly number[] => {
  if (byMonth.length > 0) return byMonth.map((month) => month - 1).sort((left, right) => left - right);
  return byMonthDay.length > 0 ? Array.from({ length: 12 }, (_, month) => month) : [toDate(first).month];
};

/** Returns the days of the rule's period with the given number, in order. */
const listPeriodDays = (rule: Recurrence, first: number, period: number): number[] => {
  const { frequency, interval, byDay, byMonth, byMonthDay, weekStart } = rule;
  const { year, month } = toDate(first);
  const isInMonth = (day: number): boolean => byMonth.length === 0 || byMonth.includes(toDate(day).month + 1);
  const isWeekday = (day: number): boolean => byDay.some(({ weekday }) => weekday === getWeekday(day));
  const step = period * interval;
  if (frequency === 'YEARLY') {
    return listMonthsOfYear(rule, first).flatMap((value) => listDaysOfMonth(rule, first, (year + step) * 12 + value));
  }
  if (frequency === 'MONTHLY') return listDaysOfMonth(rule, first, year * 12 + month + step).filter(isInMonth);
  if (frequency === 'WEEKLY') {
    const firstDay = first - ((getWeekday(first) - weekStart + 7) % 7) + step * 7;
    const days =
      byDay.length === 0 ? [first + step * 7] : [0, 1, 2, 3, 4, 5, 6].map((day) => firstDay + day).filter(isWeekday);
    return days.filter(isInMonth);
  }
  const day = first + step;
  const { year: ofYear, month: ofMonth } = toDate(day);
  const isMonthDay =
    byMonthDay.length === 0 || matchesRule({ ...rule, byDay: [] }, first, day, toMonth(ofYear * 12 + ofMonth));
  return isInMonth(day) && isMonthDay && (byDay.length === 0 || isWeekday(day)) ? [day] : [];
};

/** Lengths of the shortest periods, to find a period near a day */
const minDays = { DAILY: 1, WEEKLY: 7, MONTHLY: 28, YEARLY: 365 };
const maxDays = { DAILY: 1, WEEKLY: 7, MONTHLY: 31, YEARLY: 366 };

/** Start, duration and time zone of a recurring window */
export interface RecurringWindow {
  /** First day and time of day on the wall clock, such as `2026-01-04T22:00` */
  readonly startsAt: string;
  readonly timeZone: string;
  readonly durationMs: number;
}

/** Yields starts in time order, between two periods, until the rule ends. */
function* generateStarts(
  rule: Recurrence,
  { startsAt, timeZone }: RecurringWindow,
  periods: { readonly from: number; readonly to: number },
): Generator<number> {
  const clock = getWallClock(timeZone);
  const startMs = parseWallTime(startsAt) ?? 0;
  const first = Math.floor(startMs / dayMs);
  const { count = Number.POSITIVE_INFINITY, until } = rule;
  const isOver = (wallMs: number, atMs: number): boolean =>
    until !== undefined && (until.isWall ? wallMs : atMs) > until.ms;
  let startCount = 0;
  for (let period = periods.from; period <= periods.to; period += 1) {
    for (const day of listPeriodDays(rule, first, period)) {
      if (day < first) continue;
      const wallMs = startMs + (day - first) * dayMs;
      const atMs = clock.getInstant(wallMs);
      if (startCount >= count || isOver(wallMs, atMs)) return;
      startCount += 1;
      yield atMs;
    }
  }
}

/**
 * Returns the occurrences of a window within a range. A start in a skipped hour uses the offset before the change; a
 * start in a repeated hour is the first. `durationMs` is elapsed time.
 */
export const findOccurrences = (
  rule: Recurrence,
  window: RecurringWindow,
  range: { readonly fromMs: number; readonly toMs: number },
): { readonly fromMs: number; readonly toMs: number }[] => {
  const { frequency, interval, count } = rule;
  const startMs = parseWallTime(window.startsAt) ?? 0;
  const countPeriods = (ms: number, days: number): number => ms / dayMs / (days * interval);
  // Offsets within a day and periods that are cut at their start differ by at most three periods.
  const firstPeriod = Math.floor(countPeriods(range.fromMs - window.durationMs - startMs, maxDays[frequency])) - 3;
  const periods = {
    // A rule with a count is evaluated from its start.
    from: count === undefined ? Math.max(0, firstPeriod) : 0,
    to: Math.ceil(countPeriods(range.toMs - startMs, minDays[frequency])) + 2,
  };
  return [...generateStarts(rule, window, periods)]
    .map((fromMs) => ({ fromMs, toMs: fromMs + window.durationMs }))
    .filter(({ fromMs, toMs }) => fromMs < range.toMs && toMs > range.fromMs);
};
