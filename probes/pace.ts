/** Rate limit of a location per address, across all organizations. */

/** Maximum requests to one address in any second */
export const maxPerSecond = 20;
const secondMs = 1000;
/** Default maximum wait for a slot */
const defaultWaitMs = 5000;
/** Number of stored addresses above which idle ones are dropped */
const manyAddresses = 1000;

/** No slot became free in time. */
export class PaceError extends Error {
  override name = 'PaceError';
}

/** Queue of one address. */
interface AddressQueue {
  /** Times of the last requests, the oldest first */
  readonly sentAtMs: number[];
  /** Waiting requests, in order */
  readonly waiting: Set<() => void>;
  timer?: NodeJS.Timeout;
}

/** Assigns slots to addresses. A process has a single instance, so the limit applies to all organizations. */
export class Pace {
  readonly #maxWaitMs: number;
  readonly #lines = new Map<string, AddressQueue>();
  #inSecond = maxPerSecond;

  constructor(maxWaitMs = defaultWaitMs) {
    this.#maxWaitMs = maxWaitMs;
  }

  /** Sets the share of this process when several probes of a location divide its checks. */
  share(probes: number): void {
    this.#inSecond = Math.max(1, Math.floor(maxPerSecond / probes));
  }

  /**
   * Resolves when a request to the address may be sent. Rejects with `PaceError` if no slot becomes free in time, and
   * when the signal aborts.
   */
  async waitForSlot(address: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const line = this.#lineOf(address);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const late = setTimeout(
      () => reject(new PaceError(`this location sends at most ${maxPerSecond} requests a second to ${address}`)),
      this.#maxWaitMs,
    );
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    line.waiting.add(resolve);
    this.#deal(line);
    try {
      await promise;
    } finally {
      line.waiting.delete(resolve);
      clearTimeout(late);
      signal.removeEventListener('abort', stop);
    }
  }

  #lineOf(address: string): AddressQueue {
    const known = this.#lines.get(address);
    if (known !== undefined) return known;
    const nowMs = performance.now();
    if (this.#lines.size >= manyAddresses)
      for (const [one, { sentAtMs, waiting }] of this.#lines)
        if (waiting.size === 0 && nowMs - (sentAtMs.at(-1) ?? 0) > secondMs) this.#lines.delete(one);
    const line: AddressQueue = { sentAtMs: [], waiting: new Set() };
    this.#lines.set(address, line);
    return line;
  }

  #deal(line: AddressQueue): void {
    clearTimeout(line.timer);
    for (const go of line.waiting) {
      const nowMs = performance.now();
      const oldestMs = line.sentAtMs.at(-this.#inSecond);
      if (oldestMs !== undefined && nowMs - oldestMs < secondMs) {
        line.timer = setTimeout(() => this.#deal(line), Math.ceil(oldestMs + secondMs - nowMs));
        return;
      }
      line.waiting.delete(go);
      line.sentAtMs.push(nowMs);
      if (line.sentAtMs.length > maxPerSecond) line.sentAtMs.shift();
      go();
    }
  }
}
