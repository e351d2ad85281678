/** Computes how long an event loop has been blocked and when to check it next. */
import type { WatchdogOptions } from './event-loop-watchdog-messages.ts';

interface CheckResult {
  /** How long the loop has been blocked, in milliseconds; absent if there is nothing to report. */
  readonly blockedForMs?: number;
  /** Delay until the next check, in milliseconds */
  readonly waitMs: number;
}

export class LoopBlockageDetector {
  readonly #limits: Pick<WatchdogOptions, 'blockedMs' | 'reportBeforeEndMs'>;
  #heartbeatMs = Number.NEGATIVE_INFINITY;
  #reportAfterMs = 0;

  constructor(limits: Pick<WatchdogOptions, 'blockedMs' | 'reportBeforeEndMs'>) {
    this.#limits = limits;
  }

  /** `heartbeatMs` is the time of the last heartbeat of the loop. */
  check(nowMs: number, heartbeatMs: number): CheckResult {
    const { blockedMs, reportBeforeEndMs: repeatAfterMs } = this.#limits;
    if (heartbeatMs !== this.#heartbeatMs) this.#reportAfterMs = blockedMs;
    this.#heartbeatMs = heartbeatMs;
    const blockedForMs = nowMs - heartbeatMs;
    const shouldReport = blockedForMs >= this.#reportAfterMs;
    if (shouldReport) this.#reportAfterMs = Math.max(repeatAfterMs, 2 * this.#reportAfterMs);
    // Check again within `blockedMs`: the loop may continue in the meantime and be blocked again.
    const waitMs = Math.min(this.#reportAfterMs - blockedForMs, blockedMs);
    return { ...(shouldReport && { blockedForMs }), waitMs: Math.max(1, waitMs) };
  }
}
