/** Limits how long a task works before other tasks of its thread run. */

/** Time slice, checked between two pieces of work. */
export interface TimeSlice {
  /** Returns whether the time is over. Cheap: the clock is read as rarely as the pieces allow. */
  isOver(): boolean;
}

/** Time slice that never ends. */
export const endlessSlice: TimeSlice = { isOver: () => false };

/** Maximum number of pieces between two clock reads. */
const maxSkippedChecks = 256;
/** The clock is read less often while that many pieces take less than this. */
const shortMs = 0.25;

/** Time slice that ends after this many milliseconds, plus or minus one piece and `shortMs`. */
export class TimedSlice implements TimeSlice {
  readonly #endMs: number;
  #checkedAtMs = performance.now();
  #pieces = 1;
  #checksLeft = 1;

  constructor(ms: number) {
    this.#endMs = this.#checkedAtMs + ms;
  }

  isOver(): boolean {
    if (--this.#checksLeft > 0) return false;
    const nowMs = performance.now();
    this.#pieces = nowMs - this.#checkedAtMs < shortMs ? Math.min(maxSkippedChecks, 2 * this.#pieces) : 1;
    this.#checksLeft = this.#pieces;
    this.#checkedAtMs = nowMs;
    return nowMs >= this.#endMs;
  }
}
