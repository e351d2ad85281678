/** Window of an SLO at a time: a number of days back, or a calendar period. */
import { addMonths } from '../../../runtime/calendar.ts';
import { getWallClock, parseWallTime } from '../../../runtime/wall-clock.ts';
import type { SloObjective } from '../../../schemas/slo-slices.ts';

const dayMs = 86_400_000;

/** Consecutive periods from a start, in the wall-clock time of a time zone. */
export interface Calendar {
  readonly period: NonNullable<SloObjective['calendar']>['period'];
  readonly timeZone: string;
  /** Wall-clock date and time, such as `2026-01-01T00:00`, at which one of the periods begins. */
  readonly startsAt: string;
}

/** Start and end. A rolling window ends at the requested time; a calendar period ends after it. */
export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

const months = { month: 1, quarter: 3, year: 12 } as const;
const days = { day: 1, week: 7 } as const;

/**
 * Returns the wall-clock start of the period with an index. In a month without that day, the period starts on the
 * last day.
 */
const computePeriodStart = (period: Calendar['period'], startMs: number, index: number): number =>
  period === 'day' || period === 'week'
    ? startMs + index * days[period] * dayMs
    : addMonths(startMs, index * months[period]);

const toMonthNumber = (wallMs: number): number => {
  const date = new Date(wallMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
};

/** Returns the number of a period near a wall-clock time, at most one too high. */
const estimateIndex = (period: Calendar['period'], startMs: number, wallMs: number): number =>
  period === 'day' || period === 'week'
    ? Math.floor((wallMs - startMs) / (days[period] * dayMs))
    : Math.floor((toMonthNumber(wallMs) - toMonthNumber(startMs)) / months[period]);

/** Returns the calendar period that contains an instant. */
export const findPeriod = ({ period, timeZone, startsAt }: Calendar, atMs: number): Window => {
  const clock = getWallClock(timeZone);
  const startMs = parseWallTime(startsAt) ?? 0;
  const getStartMs = (index: number): number => clock.getInstant(computePeriodStart(period, startMs, index));
  let index = estimateIndex(period, startMs, clock.getWallTime(atMs)) + 1;
  while (getStartMs(index) > atMs) index -= 1;
  let next = index + 1;
  // A day that the clocks skip begins with the next one.
  while (getStartMs(next) <= getStartMs(index)) next += 1;
  return { fromMs: getStartMs(index), toMs: getStartMs(next) };
};

/** Returns a rolling window: a number of 24-hour days up to an instant. */
export const createRollingWindow = (windowDays: number, atMs: number): Window => ({
  fromMs: atMs - windowDays * dayMs,
  toMs: atMs,
});

/** Returns the parts of disjoint times within a window. */
export const clipTimes = ({ fromMs, toMs }: Window, times: readonly Window[]): Window[] =>
  times
    .filter((time) => time.fromMs < toMs && time.toMs > fromMs)
    .map((time) => ({ fromMs: Math.max(time.fromMs, fromMs), toMs: Math.min(time.toMs, toMs) }));

/**
 * Returns the number of slices that begin in a window, except those that begin in excluded times. A slice counts where
 * it begins: periods in time zones with fractional-hour offsets begin within hourly slices.
 */
export const countSlices = (window: Window, excluded: readonly Window[], sliceMs: number): number => {
  const countStarts = ({ fromMs, toMs }: Window): number => Math.ceil(toMs / sliceMs) - Math.ceil(fromMs / sliceMs);
  return clipTimes(window, excluded).reduce((remaining, time) => remaining - countStarts(time), countStarts(window));
};
