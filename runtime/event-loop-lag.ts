/** Computes how long an event loop has been blocked and when to check it next. */
import type { WatchStart } from './event-loop-watchdog-messages.ts';

interface Next {
  /** How long the loop has been blocked, in milliseconds; absent if there is nothing to report. */
  readonly silentMs?: number;
  /** Delay until the next check, in milliseconds */
  readonly waitMs: number;
}

export class LoopSilence {
  readonly #limits: Pick<WatchStart, 'blockedMs' | 'reportBeforeEndMs'>;
  #heartbeatMs = Number.NEGATIVE_INFINITY;
  #nextMs = 0;

  constructor(limits: Pick<WatchStart, 'blockedMs' | 'reportBeforeEndMs'>) {
    this.#limits = limits;
  }

  /** `heartbeatMs` is the time of the last heartbeat of the loop. */
  at(nowMs: number, heartbeatMs: number): Next {
    const { blockedMs, reportBeforeEndMs: longMs } = this.#limits;
    if (heartbeatMs !== this.#heartbeatMs) this.#nextMs = blockedMs;
    this.#heartbeatMs = heartbeatMs;
    const silentMs = nowMs - heartbeatMs;
    const shouldReport = silentMs >= this.#nextMs;
    if (shouldReport) this.#nextMs = Math.max(longMs, 2 * this.#nextMs);
    // Not later than the next possible blockage, in case the loop continues meanwhile.
    const waitMs = Math.min(this.#nextMs - silentMs, blockedMs);
    return { ...(shouldReport && { silentMs }), waitMs: Math.max(1, waitMs) };
  }
}
