/** For how long an event loop has stood still, and when that is to be looked at. */
import type { WatchStart } from './event-loop-watchdog-messages.ts';

interface Next {
  /** For how long the loop has stood still, where that is to be told now. */
  readonly silentMs?: number;
  /** After so long there may be something to tell. */
  readonly waitMs: number;
}

export class LoopSilence {
  readonly #limits: Pick<WatchStart, 'blockedMs' | 'longMs'>;
  #heartbeatMs = Number.NEGATIVE_INFINITY;
  #nextMs = 0;

  constructor(limits: Pick<WatchStart, 'blockedMs' | 'longMs'>) {
    this.#limits = limits;
  }

  /** `heartbeatMs` is when the loop last went on. */
  at(nowMs: number, heartbeatMs: number): Next {
    const { blockedMs, longMs } = this.#limits;
    if (heartbeatMs !== this.#heartbeatMs) this.#nextMs = blockedMs;
    this.#heartbeatMs = heartbeatMs;
    const silentMs = nowMs - heartbeatMs;
    const shouldReport = silentMs >= this.#nextMs;
    if (shouldReport) this.#nextMs = Math.max(longMs, 2 * this.#nextMs);
    // Not later than what would block next, should the loop go on meanwhile.
    const waitMs = Math.min(this.#nextMs - silentMs, blockedMs);
    return { ...(shouldReport && { silentMs }), waitMs: Math.max(1, waitMs) };
  }
}
