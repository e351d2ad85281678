/** How long a task may work before others in its thread have their turn. */

/** Asked between two pieces of work. */
export interface TimeSlice {
  /** Whether the time is over. Cheap: the clock is looked at as seldom as the pieces allow. */
  isOver(): boolean;
}

/** It never ends. */
export const endless: TimeSlice = { isOver: () => false };

/** The clock is looked at once in so many pieces at most, … */
const maxPieces = 256;
/** … and seldomer while that many took less than this. */
const shortMs = 0.25;

/** Ends after so many milliseconds, give or take one piece and `shortMs`. */
export class TimedSlice implements TimeSlice {
  readonly #endMs: number;
  #checkedAtMs = performance.now();
  #pieces = 1;
  #left = 1;

  constructor(ms: number) {
    this.#endMs = this.#checkedAtMs + ms;
  }

  isOver(): boolean {
    if (--this.#left > 0) return false;
    const nowMs = performance.now();
    this.#pieces = nowMs - this.#checkedAtMs < shortMs ? Math.min(maxPieces, 2 * this.#pieces) : 1;
    this.#left = this.#pieces;
    this.#checkedAtMs = nowMs;
    return nowMs >= this.#endMs;
  }
}
