import { KahanSum } from '../histograms/kahan.ts';

/** Mean as sum divided by count; once the sum would be infinite, as an incremental mean. */
export class FloatMean {
  readonly #sum: KahanSum;
  #count = 1;
  #moving = false;

  constructor(first: number) {
    this.#sum = new KahanSum(first);
  }

  add(value: number): void {
    const sum = this.#sum;
    this.#count++;
    if (!this.#moving) {
      const total = sum.sum + value;
      if (Math.abs(total) !== Number.POSITIVE_INFINITY) {
        sum.add(value);
        return;
      }
      this.#moving = true;
      sum.sum /= this.#count - 1;
      sum.rest /= this.#count - 1;
    }
    const share = (this.#count - 1) / this.#count;
    sum.sum *= share;
    sum.rest *= share;
    sum.add(value / this.#count);
  }

  get value(): number {
    return this.#moving ? this.#sum.total : this.#sum.sum / this.#count + this.#sum.rest / this.#count;
  }
}
