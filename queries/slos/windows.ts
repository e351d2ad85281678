/** The window of an objective at a time: so many days back, or a period of a calendar. */
import { monthsLater, wallClockOf, wallTimeOf } from '../../runtime/wall-clock.ts';
import type { SloObjective } from '../../schemas/slo-slices.ts';

const dayMs = 86_400_000;

/** Periods one after the other from a begin, on the wall clock of a time zone. */
export interface Calendar {
  readonly period: NonNullable<SloObjective['calendar']>['period'];
  readonly timeZone: string;
  /** Date and time on the wall clock, such as `2026-01-01T00:00`, at which one of the periods begins. */
  readonly startsAt: string;
}

/** From when to when. A window of days ends at the time that was asked for, a period of a calendar after it. */
export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

const months = { month: 1, quarter: 3, year: 12 } as const;
const days = { day: 1, week: 7 } as const;

/** When the period of that number begins, on the wall clock. A month without the day takes its last. */
const beginOf = (period: Calendar['period'], startMs: number, index: number): number =>
  period === 'day' || period === 'week'
    ? startMs + index * days[period] * dayMs
    : monthsLater(startMs, index * months[period]);

const monthOf = (wallMs: number): number => {
  const date = new Date(wallMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
};

/** Number of a period near a wall time, not after the right one by more than one. */
const near = (period: Calendar['period'], startMs: number, wallMs: number): number =>
  period === 'day' || period === 'week'
    ? Math.floor((wallMs - startMs) / (days[period] * dayMs))
    : Math.floor((monthOf(wallMs) - monthOf(startMs)) / months[period]);

/** The period of a calendar that an instant is in. */
export const periodAt = ({ period, timeZone, startsAt }: Calendar, atMs: number): Window => {
  const clock = wallClockOf(timeZone);
  const startMs = wallTimeOf(startsAt) ?? 0;
  const begin = (index: number): number => clock.instantOf(beginOf(period, startMs, index));
  let index = near(period, startMs, clock.wallAt(atMs)) + 1;
  while (begin(index) > atMs) index -= 1;
  let next = index + 1;
  // A day that the clocks leave out has the begin of the next one.
  while (begin(next) <= begin(index)) next += 1;
  return { fromMs: begin(index), toMs: begin(next) };
};

/** So many days of 24 hours up to an instant. */
export const rollingAt = (windowDays: number, atMs: number): Window => ({
  fromMs: atMs - windowDays * dayMs,
  toMs: atMs,
});

/** What of times that are apart lies in a window. */
export const clippedTo = ({ fromMs, toMs }: Window, times: readonly Window[]): Window[] =>
  times
    .filter((time) => time.fromMs < toMs && time.toMs > fromMs)
    .map((time) => ({ fromMs: Math.max(time.fromMs, fromMs), toMs: Math.min(time.toMs, toMs) }));

/**
 * How many slices begin in a window, without those that begin in times that are left out of it. A slice counts where it begins: periods of time zones
 * whose offset is a part of an hour begin within slices of an hour.
 */
export const slicesIn = (window: Window, excluded: readonly Window[], sliceMs: number): number => {
  const begins = ({ fromMs, toMs }: Window): number => Math.ceil(toMs / sliceMs) - Math.ceil(fromMs / sliceMs);
  return clippedTo(window, excluded).reduce((left, time) => left - begins(time), begins(window));
};
