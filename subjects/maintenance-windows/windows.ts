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
  const fromMs = getWallClock(timeZone).getInstant(parseWallTime(startsAt) ?? 0);
  const occurrence = { fromMs, toMs: fromMs + durationMs };
  return occurrence.fromMs < range.toMs && occurrence.toMs > range.fromMs ? [occurrence] : [];
};

const maxUpcoming = 5;
/** Maximum time ahead in which occurrences are searched */
const aheadMs = 366 * dayMs;

/** Returns the current occurrence of a window and the next ones within a year, at most five. */
export const findNextOccurrences = (window: WindowSchedule, nowMs: number): readonly Occurrence[] =>
  findOccurrencesInRange(window, { fromMs: nowMs, toMs: nowMs + aheadMs }).slice(0, maxUpcoming);

interface CachedOccurrences {
  readonly version: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly occurrences: readonly Occurrence[];
}

/**
 * Caches the occurrences of windows for the surrounding day, because a rule with a count is evaluated from its first
 * day
 */
export class OccurrenceCache {
  readonly #cached = new Map<string, CachedOccurrences>();

  /** Returns whether a window is active at a time. */
  isActive(window: MaintenanceWindow & StoredMetadata, atMs: number): boolean {
    const { id, version } = window;
    let cached = this.#cached.get(id);
    if (cached === undefined || cached.version !== version || atMs < cached.fromMs || atMs >= cached.toMs) {
      const range = { fromMs: atMs, toMs: atMs + dayMs };
      cached = { version, ...range, occurrences: findOccurrencesInRange(window, range) };
      this.#cached.set(id, cached);
    }
    return cached.occurrences.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs);
  }

  /** Evicts windows that no longer exist. */
  retainOnly(windows: ReadonlyMap<string, unknown>): void {
    for (const id of this.#cached.keys()) if (!windows.has(id)) this.#cached.delete(id);
  }
}
