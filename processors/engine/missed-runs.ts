/**
 * Missed due times that are caught up on while a store is unavailable. They wait for the store, but at most until the
 * next due time.
 */
import type { ScheduleItem } from './schedule-items.ts';
import { getNextDueMs } from './schedule-times.ts';

/** Delay before a waiting item is retried. */
const retryDelayMs = 5_000;

interface WaitingItem {
  /** Time of the next retry. */
  readonly retryAtMs: number;
  /** Deadline of the wait: the next due time must run on time, and runs are in order. */
  readonly untilMs: number;
}

type TimedItem = Pick<ScheduleItem, 'key' | 'phase' | 'everyMs'>;

export class MissedRuns {
  /** Retained until the item has caught up, so that all its missed due times together wait for at most one interval. */
  readonly #waiting = new Map<string, WaitingItem>();

  /** Returns whether the run of a due time may be retried. */
  canWait({ key, phase, everyMs }: TimedItem, dueMs: number, nowMs: number): boolean {
    const hasCaughtUp = getNextDueMs(phase, everyMs, dueMs) > nowMs;
    if (hasCaughtUp) this.#waiting.delete(key);
    return !hasCaughtUp && nowMs < (this.#waiting.get(key)?.untilMs ?? Number.POSITIVE_INFINITY);
  }

  addWaiting({ key, phase, everyMs }: TimedItem, nowMs: number): void {
    const untilMs = this.#waiting.get(key)?.untilMs ?? getNextDueMs(phase, everyMs, nowMs);
    this.#waiting.set(key, { retryAtMs: Math.min(nowMs + retryDelayMs, untilMs), untilMs });
  }

  /** Returns the time before which the item does not run. */
  getRetryTimeMs(key: string): number {
    return this.#waiting.get(key)?.retryAtMs ?? Number.NEGATIVE_INFINITY;
  }

  clear(): void {
    this.#waiting.clear();
  }

  removeItem(key: string): void {
    this.#waiting.delete(key);
  }
}
