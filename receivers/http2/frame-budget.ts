/** Limits frames that are free for their sender but cost work on this side, such as PING. */
import { createAbuseError } from './errors.ts';

export interface FrameBudget {
  /** Maximum number of frames at once. */
  readonly burst: number;
  /** Number of additional frames per second. */
  readonly perSecond: number;
}

export class FrameBudgetTracker {
  readonly #budget: FrameBudget;
  #remaining: number;
  /** Time of the last refill. */
  #refilledAt = performance.now();

  constructor(budget: FrameBudget) {
    this.#budget = budget;
    this.#remaining = budget.burst;
  }

  /** Spends a frame. Throws a `ConnectionError` if there were too many. */
  spend(frameName: string): void {
    if (this.#remaining >= this.#budget.burst) this.#refilledAt = performance.now();
    else if (this.#remaining < 1) this.#refill();
    if (this.#remaining < 1)
      throw createAbuseError(`too many frames that carry nothing, the last of them ${frameName}`);
    this.#remaining--;
  }

  /** Adds budget for a complete request: peers send pings and window updates in proportion to their data. */
  addForRequest(): void {
    if (this.#remaining < this.#budget.burst) this.#remaining += 4;
  }

  #refill(): void {
    const now = performance.now();
    this.#remaining += ((now - this.#refilledAt) / 1000) * this.#budget.perSecond;
    this.#remaining = Math.min(this.#remaining, this.#budget.burst);
    this.#refilledAt = now;
  }
}
