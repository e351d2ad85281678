/** Durations of recent statements, to decide whether a single statement is slow or all statements are. */

const maxDurations = 20;
/** Minimum number of durations for a median. */
const minDurations = 5;

export class RecentDurations {
  readonly #durationsMs: number[] = [];

  add(durationMs: number): void {
    this.#durationsMs.push(durationMs);
    if (this.#durationsMs.length > maxDurations) this.#durationsMs.shift();
  }

  /** Returns the median; 0 while there are too few durations. */
  getMedianMs(): number {
    if (this.#durationsMs.length < minDurations) return 0;
    return this.#durationsMs.toSorted((left, right) => left - right)[
      Math.floor(this.#durationsMs.length / 2)
    ] as number;
  }
}
