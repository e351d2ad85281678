/** Durations of recent statements, to decide whether one is slow or all are. */

const maxTimes = 20;
/** Minimum number of durations for a median. */
const minTimes = 5;

export class RecentTimes {
  readonly #times: number[] = [];

  add(ms: number): void {
    this.#times.push(ms);
    if (this.#times.length > maxTimes) this.#times.shift();
  }

  /** Returns the median; 0 while there are too few durations. */
  medianMs(): number {
    if (this.#times.length < minTimes) return 0;
    return this.#times.toSorted((one, other) => one - other)[Math.floor(this.#times.length / 2)] as number;
  }
}
