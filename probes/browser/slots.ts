/** Limits the number of concurrent browsers: each needs some hundred megabytes. */
import { StepFailure } from '../runner.ts';

const defaultSlots = 2;
/** One minute, the shortest check interval */
const defaultWaitMs = 60_000;

export class BrowserSlots {
  readonly #maxSlots: number;
  readonly #maxWaitMs: number;
  readonly #waiters = new Set<() => void>();
  #usedSlots = 0;

  constructor(maxSlots = defaultSlots, maxWaitMs = defaultWaitMs) {
    this.#maxSlots = maxSlots;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Resolves when a slot is free, to a function that releases it. Rejects if none becomes free in time, and when the
   * signal aborts.
   */
  async acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const busyMessage = `this location runs ${this.#maxSlots} browsers at once, and no slot became free`;
    const cancel = (reason: unknown): void => {
      this.#waiters.delete(resolve);
      reject(reason);
    };
    const timer = setTimeout(() => cancel(new StepFailure(busyMessage, { outcome: 'unknown' })), this.#maxWaitMs);
    const stop = (): void => cancel(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    this.#waiters.add(resolve);
    this.#startNext();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
    return () => {
      this.#usedSlots--;
      this.#startNext();
    };
  }

  #startNext(): void {
    const [grantSlot] = this.#waiters;
    if (grantSlot === undefined || this.#usedSlots >= this.#maxSlots) return;
    this.#waiters.delete(grantSlot);
    this.#usedSlots++;
    grantSlot();
  }
}
