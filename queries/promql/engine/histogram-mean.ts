import { type Addition, HistogramSum } from '../histograms/arithmetic.ts';
import type { Histogram } from '../histograms/histogram.ts';

/** Computes the mean of histograms as the sum divided by the count, or incrementally once a sum would be infinite. */
export class HistogramMean {
  #sum: HistogramSum;
  #count = 1;
  #isIncremental = false;

  constructor(first: Histogram) {
    this.#sum = new HistogramSum(first);
  }

  /** Throws `IncompatibleHistograms`. */
  add(value: Histogram): Addition {
    this.#count++;
    if (!this.#isIncremental) {
      const nextSum = this.#sum.copy();
      const addition = nextSum.add(value);
      if (!nextSum.value(false).hasOverflow) {
        this.#sum = nextSum;
        return addition;
      }
      this.#isIncremental = true;
      this.#sum.scale(1 / (this.#count - 1));
    }
    this.#sum.scale((this.#count - 1) / this.#count);
    return this.#sum.add(value.copy().divide(this.#count));
  }

  value(): Histogram {
    const value = this.#sum.value();
    return this.#isIncremental ? value : value.divide(this.#count);
  }
}
