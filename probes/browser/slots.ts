/** Limits the number of concurrent browsers: each needs some hundred megabytes. */
import { StepFailure } from '../runner.ts';

const defaultPlaces = 2;
/** One minute, the shortest check interval */
const defaultWaitMs = 60_000;

export class BrowserSlots {
  readonly #maxPlaces: number;
  readonly #maxWaitMs: number;
  readonly #waiting = new Set<() => void>();
  #usedPlaces = 0;

  constructor(maxPlaces = defaultPlaces, maxWaitMs = defaultWaitMs) {
    this.#maxPlaces = maxPlaces;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Resolves when a slot is free, to a function that releases it. Rejects if none becomes free in time, and when the
   * signal aborts.
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const busy = `this location runs ${this.#maxPlaces} browsers at once, and no slot became free`;
    const refuse = (reason: unknown): void => {
      this.#waiting.delete(resolve);
      reject(reason);
    };
    const late = setTimeout(() => refuse(new StepFailure(busy, { outcome: 'unknown' })), this.#maxWaitMs);
    const stop = (): void => refuse(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    this.#waiting.add(resolve);
    this.#next();
    try {
      await promise;
    } finally {
      clearTimeout(late);
      signal.removeEventListener('abort', stop);
    }
    return () => {
      this.#usedPlaces--;
      this.#next();
    };
  }

  #next(): void {
    const [go] = this.#waiting;
    if (go === undefined || this.#usedPlaces >= this.#maxPlaces) return;
    this.#waiting.delete(go);
    this.#usedPlaces++;
    go();
  }
}
