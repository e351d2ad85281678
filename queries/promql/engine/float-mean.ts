import { KahanSum } from '../histograms/kahan.ts';

/** Computes a mean as the sum divided by the count, or incrementally once the sum would be infinite. */
export class FloatMean {
  readonly #sum: KahanSum;
  #count = 1;
  #isIncremental = false;

  constructor(first: number) {
    this.#sum = new KahanSum(first);
  }

  add(value: number): void {
    const sum = this.#sum;
    this.#count++;
    if (!this.#isIncremental) {
      const total = sum.sum + value;
      if (Math.abs(total) !== Number.POSITIVE_INFINITY) {
        sum.add(value);
        return;
      }
      this.#isIncremental = true;
      sum.sum /= this.#count - 1;
      sum.compensation /= this.#count - 1;
    }
    const weight = (this.#count - 1) / this.#count;
    sum.sum *= weight;
    sum.compensation *= weight;
    sum.add(value / this.#count);
  }

  get value(): number {
    return this.#isIncremental ? this.#sum.total : this.#sum.sum / this.#count + this.#sum.compensation / this.#count;
  }
}
