/** Limits the number of concurrent browsers: each needs some hundred megabytes. */
import { StepFailure } from '../runner.ts';

const defaultSlots = 2;
/** One minute, the shortest check interval */
const defaultWaitMs = 60_000;

export class BrowserSlots {
  readonly #maxPlaces: number;
  readonly #maxWaitMs: number;
  readonly #waiting = new Set<() => void>();
  #usedPlaces = 0;

  constructor(maxPlaces = defaultSlots, maxWaitMs = defaultWaitMs) {
    this.#maxPlaces = maxPlaces;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Resolves when a slot is free, to a function that releases it. Rejects if none becomes free in time, and when the
   * signal aborts.
   */
  async acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const busyMessage = `this location runs ${this.#maxPlaces} browsers at once, and no slot became free`;
    const refuse = (reason: unknown): void => {
      this.#waiting.delete(resolve);
      reject(reason);
    };
    const timer = setTimeout(() => refuse(new StepFailure(busyMessage, { outcome: 'unknown' })), this.#maxWaitMs);
    const stop = (): void => refuse(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    this.#waiting.add(resolve);
    this.#startNext();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
    return () => {
      this.#usedPlaces--;
      this.#startNext();
    };
  }

  #startNext(): void {
    const [grantSlot] = this.#waiting;
    if (grantSlot === undefined || this.#usedPlaces >= this.#maxPlaces) return;
    this.#waiting.delete(grantSlot);
    this.#usedPlaces++;
    grantSlot();
  }
}
