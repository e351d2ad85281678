/** Active times of maintenance windows */
import { getWallClock, parseWallTime } from '../../runtime/wall-clock.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { MaintenanceWindow } from '../../schemas/resources/maintenance-window.ts';
import { findOccurrences, parseRecurrence } from './recurrence.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** One occurrence of a window; the end is exclusive */
export interface Occurrence {
  readonly fromMs: number;
  readonly toMs: number;
}

type WindowSchedule = Pick<MaintenanceWindow, 'startsAt' | 'timeZone' | 'durationMinutes' | 'recurrence'>;

/** Returns the occurrences of a window that overlap a range. */
export const findOccurrencesInRange = (
  { startsAt, timeZone, durationMinutes, recurrence }: WindowSchedule,
  range: { readonly fromMs: number; readonly toMs: number },
): readonly Occurrence[] => {
  const durationMs = durationMinutes * minuteMs;
  if (recurrence !== null)
    return findOccurrences(parseRecurrence(recurrence), { startsAt, timeZone, durationMs }, range);
  const fromMs = getWallClock(timeZone).instantOf(parseWallTime(startsAt) ?? 0);
  const occurrence = { fromMs, toMs: fromMs + durationMs };
  return occurrence.fromMs < range.toMs && occurrence.toMs > range.fromMs ? [occurrence] : [];
};

const maxUpcoming = 5;
/** Maximum time ahead in which occurrences are searched */
const aheadMs = 366 * dayMs;

/** Returns the current occurrence of a window and the next ones within a year, at most five. */
export const nextOccurrences = (window: WindowSchedule, nowMs: number): readonly Occurrence[] =>
  findOccurrencesInRange(window, { fromMs: nowMs, toMs: nowMs + aheadMs }).slice(0, maxUpcoming);

interface CachedOccurrences {
  readonly version: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly times: readonly Occurrence[];
}

/**
 * Caches the occurrences of windows for the surrounding day, because a rule with a count is evaluated from its first
 * day
 */
export class OccurrenceCache {
  readonly #known = new Map<string, CachedOccurrences>();

  /** Returns whether a window is active at a time. */
  isActive(window: MaintenanceWindow & StoredMetadata, atMs: number): boolean {
    const { id, version } = window;
    let known = this.#known.get(id);
    if (known === undefined || known.version !== version || atMs < known.fromMs || atMs >= known.toMs) {
      const range = { fromMs: atMs, toMs: atMs + dayMs };
      known = { version, ...range, times: findOccurrencesInRange(window, range) };
      this.#known.set(id, known);
    }
    return known.times.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs);
  }

  /** Evicts windows that no longer exist. */
  retainOnly(windows: ReadonlyMap<string, unknown>): void {
    for (const id of this.#known.keys()) if (!windows.has(id)) this.#known.delete(id);
  }
}
