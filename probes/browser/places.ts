/** How many browsers run at once: each takes some hundred megabytes. */
import { StepFailure } from '../runner.ts';

const usualPlaces = 2;
/** A minute is the shortest interval. */
const usualWaitMs = 60_000;

export class Places {
  readonly #most: number;
  readonly #longestWaitMs: number;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(most = usualPlaces, longestWaitMs = usualWaitMs) {
    this.#most = most;
    this.#longestWaitMs = longestWaitMs;
  }

  /** Resolves when there is a place, to what leaves it. Rejects where none comes free, and when the signal aborts. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const busy = `this location runs ${this.#most} browsers at once, and none of them came free`;
    const refuse = (why: unknown): void => {
      this.#waiting.delete(resolve);
      reject(why);
    };
    const late = setTimeout(() => refuse(new StepFailure(busy, { outcome: 'unknown' })), this.#longestWaitMs);
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
      this.#taken--;
      this.#next();
    };
  }

  #next(): void {
    const [go] = this.#waiting;
    if (go === undefined || this.#taken >= this.#most) return;
    this.#waiting.delete(go);
    this.#taken++;
    go();
  }
}
