/** A sum with compensation of rounding errors (Kahan's method with Neumaier's improvement), as in Prometheus. */
export class KahanSum {
  sum: number;
  compensation: number;

  constructor(sum = 0, compensation = 0) {
    this.sum = sum;
    this.compensation = compensation;
  }

  add(value: number): void {
    const total = this.sum + value;
    if (total === Number.POSITIVE_INFINITY || total === Number.NEGATIVE_INFINITY) this.compensation = 0;
    else if (Math.abs(this.sum) >= Math.abs(value)) this.compensation += this.sum - total + value;
    else this.compensation += value - total + this.sum;
    this.sum = total;
  }

  get total(): number {
    return this.sum + this.compensation;
  }
}
