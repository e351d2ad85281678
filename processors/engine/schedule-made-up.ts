/** Due times that are made up while a store is away: they wait for it, but never longer than until the next due time comes. */
import type { ScheduleItem } from './schedule-items.ts';
import { nextDue } from './schedule-times.ts';

/** Until what waits is tried again. */
const pauseMs = 5_000;

interface Waiting {
  /** When it is tried again, … */
  readonly againMs: number;
  /** … and when it waits no longer: the due time that comes then must be told in time, and runs are in order. */
  readonly untilMs: number;
}

type Timed = Pick<ScheduleItem, 'key' | 'phase' | 'everyMs'>;

export class MadeUp {
  /** Kept until the thing has caught up, so that all due times that are made up together wait for one interval at most. */
  readonly #waiting = new Map<string, Waiting>();

  /** Whether the run of a due time may be done again. */
  mayWait({ key, phase, everyMs }: Timed, dueMs: number, nowMs: number): boolean {
    const hasCaughtUp = nextDue(phase, everyMs, dueMs) > nowMs;
    if (hasCaughtUp) this.#waiting.delete(key);
    return !hasCaughtUp && nowMs < (this.#waiting.get(key)?.untilMs ?? Number.POSITIVE_INFINITY);
  }

  wait({ key, phase, everyMs }: Timed, nowMs: number): void {
    const untilMs = this.#waiting.get(key)?.untilMs ?? nextDue(phase, everyMs, nowMs);
    this.#waiting.set(key, { againMs: Math.min(nowMs + pauseMs, untilMs), untilMs });
  }

  /** Before this time the thing does not run. */
  againMs(key: string): number {
    return this.#waiting.get(key)?.againMs ?? Number.NEGATIVE_INFINITY;
  }

  clear(): void {
    this.#waiting.clear();
  }

  forget(key: string): void {
    this.#waiting.delete(key);
  }
}
