/** How long statements took lately: whether one is slow, or all are. */

const maxTimes = 20;
/** Of fewer nothing is said. */
const minTimes = 5;

export class RecentTimes {
  readonly #times: number[] = [];

  add(ms: number): void {
    this.#times.push(ms);
    if (this.#times.length > maxTimes) this.#times.shift();
  }

  /** The median; 0 while there are few. */
  medianMs(): number {
    if (this.#times.length < minTimes) return 0;
    return this.#times.toSorted((one, other) => one - other)[Math.floor(this.#times.length / 2)] as number;
  }
}
