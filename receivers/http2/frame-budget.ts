/** Limits the number of frames that cost their sender nothing and this side something. */
import { abuse } from './errors.ts';

export interface FrameBudget {
  /** Frames at once. */
  readonly burst: number;
  /** Frames a second on top of it. */
  readonly perSecond: number;
}

export class FreeFrames {
  readonly #budget: FrameBudget;
  #left: number;
  /** Since when something is missing. */
  #at = performance.now();

  constructor(budget: FrameBudget) {
    this.#budget = budget;
    this.#left = budget.burst;
  }

  /** Throws a `ConnectionError` when there were too many. */
  spend(what: string): void {
    if (this.#left >= this.#budget.burst) this.#at = performance.now();
    else if (this.#left < 1) this.#refill();
    if (this.#left < 1) throw abuse(`too many frames that carry nothing, the last of them ${what}`);
    this.#left--;
  }

  /** A whole request was taken: peers measure the way by pings, and give windows back, in proportion to what they send. */
  earn(): void {
    if (this.#left < this.#budget.burst) this.#left += 4;
  }

  #refill(): void {
    const now = performance.now();
    this.#left += ((now - this.#at) / 1000) * this.#budget.perSecond;
    this.#left = Math.min(this.#left, this.#budget.burst);
    this.#at = now;
  }
}
