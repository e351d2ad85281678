/** A counting semaphore. */
export class Semaphore {
  #freeCount: number;
  readonly #waiters: (() => void)[] = [];

  constructor(count: number) {
    this.#freeCount = count;
  }

  /** Resolves once a slot is free; `release` frees it. */
  async acquire(): Promise<void> {
    if (this.#freeCount > 0) {
      this.#freeCount--;
      return;
    }
    await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  release(): void {
    const next = this.#waiters.shift();
    if (next === undefined) this.#freeCount++;
    else next();
  }
}
