/** When a maintenance window holds. */
import { wallClockOf, wallTimeOf } from '../../runtime/wall-clock.ts';
import type { Stored } from '../../schemas/ports/documents.ts';
import type { MaintenanceWindow } from '../../schemas/resources/maintenance-window.ts';
import { occurrencesOf, recurrenceOf } from './recurrence.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** One time in which a window holds; the end is not in it. */
export interface Occurrence {
  readonly fromMs: number;
  readonly toMs: number;
}

type Times = Pick<MaintenanceWindow, 'startsAt' | 'timeZone' | 'durationMinutes' | 'recurrence'>;

/** The times of a window that lie in a range, or reach into it. */
export const timesOf = (
  { startsAt, timeZone, durationMinutes, recurrence }: Times,
  range: { readonly fromMs: number; readonly toMs: number },
): readonly Occurrence[] => {
  const durationMs = durationMinutes * minuteMs;
  if (recurrence !== null) return occurrencesOf(recurrenceOf(recurrence), { startsAt, timeZone, durationMs }, range);
  const fromMs = wallClockOf(timeZone).instantOf(wallTimeOf(startsAt) ?? 0);
  const once = { fromMs, toMs: fromMs + durationMs };
  return once.fromMs < range.toMs && once.toMs > range.fromMs ? [once] : [];
};

const maxUpcoming = 5;
/** How far ahead times are looked for. */
const aheadMs = 366 * dayMs;

/** The time of a window that holds now, and the next ones within a year, five at most. */
export const nextTimesOf = (window: Times, nowMs: number): readonly Occurrence[] =>
  timesOf(window, { fromMs: nowMs, toMs: nowMs + aheadMs }).slice(0, maxUpcoming);

interface Known {
  readonly version: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly times: readonly Occurrence[];
}

/** Remembers the times of windows for the day around: a rule with a count is counted from its first day. */
export class WindowTimes {
  readonly #known = new Map<string, Known>();

  /** Whether a window holds at a time. */
  holds(window: MaintenanceWindow & Stored, atMs: number): boolean {
    const { id, version } = window;
    let known = this.#known.get(id);
    if (known === undefined || known.version !== version || atMs < known.fromMs || atMs >= known.toMs) {
      const range = { fromMs: atMs, toMs: atMs + dayMs };
      known = { version, ...range, times: timesOf(window, range) };
      this.#known.set(id, known);
    }
    return known.times.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs);
  }

  /** Forgets those that are there no more. */
  retainOnly(windows: ReadonlyMap<string, unknown>): void {
    for (const id of this.#known.keys()) if (!windows.has(id)) this.#known.delete(id);
  }
}
