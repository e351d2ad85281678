/** For how long an event loop has stood still, and when that is to be looked at. */
import type { WatchStart } from './loop-watch-messages.ts';

interface Next {
  /** For how long the loop has stood still, where that is to be told now. */
  readonly silentMs?: number;
  /** After so long there may be something to tell. */
  readonly waitMs: number;
}

export class LoopSilence {
  readonly #limits: Pick<WatchStart, 'blockedMs' | 'longMs'>;
  #beatMs = Number.NEGATIVE_INFINITY;
  #nextMs = 0;

  constructor(limits: Pick<WatchStart, 'blockedMs' | 'longMs'>) {
    this.#limits = limits;
  }

  /** `beatMs` is when the loop last went on. */
  at(nowMs: number, beatMs: number): Next {
    const { blockedMs, longMs } = this.#limits;
    if (beatMs !== this.#beatMs) this.#nextMs = blockedMs;
    this.#beatMs = beatMs;
    const silentMs = nowMs - beatMs;
    const isTold = silentMs >= this.#nextMs;
    if (isTold) this.#nextMs = Math.max(longMs, 2 * this.#nextMs);
    // Not later than what would block next, should the loop go on meanwhile.
    const waitMs = Math.min(this.#nextMs - silentMs, blockedMs);
    return { ...(isTold && { silentMs }), waitMs: Math.max(1, waitMs) };
  }
}
