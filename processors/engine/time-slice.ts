/** Limits how long a task works before other tasks of its thread run. */

/** Time slice, checked between two steps of work. */
export interface TimeSlice {
  /** Returns whether the time is over. Cheap: while steps are short, the clock is read rarely. */
  isOver(): boolean;
}

/** Time slice that never ends. */
export const endlessSlice: TimeSlice = { isOver: () => false };

/** Maximum number of steps between two clock reads. */
const maxSkippedChecks = 256;
/** The clock is read less often while the steps between two reads take less than this. */
const maxUncheckedMs = 0.25;

/** Time slice that ends after this many milliseconds, plus or minus one step and `maxUncheckedMs`. */
export class TimedSlice implements TimeSlice {
  readonly #endMs: number;
  #checkedAtMs = performance.now();
  #stepsPerCheck = 1;
  #stepsUntilCheck = 1;

  constructor(ms: number) {
    this.#endMs = this.#checkedAtMs + ms;
  }

  isOver(): boolean {
    if (--this.#stepsUntilCheck > 0) return false;
    const nowMs = performance.now();
    this.#stepsPerCheck =
      nowMs - this.#checkedAtMs < maxUncheckedMs ? Math.min(maxSkippedChecks, 2 * this.#stepsPerCheck) : 1;
    this.#stepsUntilCheck = this.#stepsPerCheck;
    this.#checkedAtMs = nowMs;
    return nowMs >= this.#endMs;
  }
}
