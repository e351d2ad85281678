/** Limits the number of frames that are free for their sender but not for this side. */
import { abuse } from './errors.ts';

export interface FrameBudget {
  /** Maximum number of frames at once. */
  readonly burst: number;
  /** Number of additional frames per second. */
  readonly perSecond: number;
}

export class FreeFrames {
  readonly #budget: FrameBudget;
  #left: number;
  /** Time of the last refill. */
  #at = performance.now();

  constructor(budget: FrameBudget) {
    this.#budget = budget;
    this.#left = budget.burst;
  }

  /** Spends a frame. Throws a `ConnectionError` if there were too many. */
  spend(what: string): void {
    if (this.#left >= this.#budget.burst) this.#at = performance.now();
    else if (this.#left < 1) this.#refill();
    if (this.#left < 1) throw abuse(`too many frames that carry nothing, the last of them ${what}`);
    this.#left--;
  }

  /** Adds budget for a complete request: peers send pings and window updates in proportion to their data. */
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
