/** Frames that cost their sender nothing and this side something: so many of them, and no more. */
import { abuse } from './errors.ts';

export interface FrameAllowance {
  /** Frames at once. */
  readonly burst: number;
  /** Frames a second on top of it. */
  readonly perSecond: number;
}

export class FreeFrames {
  readonly #allowance: FrameAllowance;
  #left: number;
  /** Since when something is missing. */
  #at = performance.now();

  constructor(allowance: FrameAllowance) {
    this.#allowance = allowance;
    this.#left = allowance.burst;
  }

  /** Throws a `ConnectionError` when there were too many. */
  spend(what: string): void {
    if (this.#left >= this.#allowance.burst) this.#at = performance.now();
    else if (this.#left < 1) this.#refill();
    if (this.#left < 1) throw abuse(`too many frames that carry nothing, the last of them ${what}`);
    this.#left--;
  }

  /** A whole request was taken: peers measure the way by pings, and give windows back, in proportion to what they send. */
  earn(): void {
    if (this.#left < this.#allowance.burst) this.#left += 4;
  }

  #refill(): void {
    const now = performance.now();
    this.#left += ((now - this.#at) / 1000) * this.#allowance.perSecond;
    this.#left = Math.min(this.#left, this.#allowance.burst);
    this.#at = now;
  }
}
