/** Rate limit of a location per address, across all organizations. */

/** Maximum requests to one address in any second */
export const maxPerSecond = 20;
const secondMs = 1000;
/** Default maximum wait for a slot */
const defaultWaitMs = 5000;
/** Number of stored addresses above which idle ones are dropped */
const cleanupThreshold = 1000;

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
export class RateLimiter {
  readonly #maxWaitMs: number;
  readonly #queues = new Map<string, AddressQueue>();
  #requestsPerSecond = maxPerSecond;

  constructor(maxWaitMs = defaultWaitMs) {
    this.#maxWaitMs = maxWaitMs;
  }

  /** Sets the share of this process when several probes of a location divide its checks. */
  setProbeCount(probes: number): void {
    this.#requestsPerSecond = Math.max(1, Math.floor(maxPerSecond / probes));
  }

  /**
   * Resolves when a request to the address may be sent. Rejects with `PaceError` if no slot becomes free in time, and
   * when the signal aborts.
   */
  async waitForSlot(address: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const queue = this.#getQueue(address);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(
      () => reject(new PaceError(`this location sends at most ${maxPerSecond} requests a second to ${address}`)),
      this.#maxWaitMs,
    );
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    queue.waiting.add(resolve);
    this.#grantSlots(queue);
    try {
      await promise;
    } finally {
      queue.waiting.delete(resolve);
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }

  #getQueue(address: string): AddressQueue {
    const existing = this.#queues.get(address);
    if (existing !== undefined) return existing;
    const nowMs = performance.now();
    if (this.#queues.size >= cleanupThreshold)
      for (const [queuedAddress, { sentAtMs, waiting }] of this.#queues)
        if (waiting.size === 0 && nowMs - (sentAtMs.at(-1) ?? 0) > secondMs) this.#queues.delete(queuedAddress);
    const queue: AddressQueue = { sentAtMs: [], waiting: new Set() };
    this.#queues.set(address, queue);
    return queue;
  }

  #grantSlots(line: AddressQueue): void {
    clearTimeout(line.timer);
    for (const grantSlot of line.waiting) {
      const nowMs = performance.now();
      const windowStartMs = line.sentAtMs.at(-this.#requestsPerSecond);
      if (windowStartMs !== undefined && nowMs - windowStartMs < secondMs) {
        line.timer = setTimeout(() => this.#grantSlots(line), Math.ceil(windowStartMs + secondMs - nowMs));
        return;
      }
      line.waiting.delete(grantSlot);
      line.sentAtMs.push(nowMs);
      if (line.sentAtMs.length > maxPerSecond) line.sentAtMs.shift();
      grantSlot();
    }
  }
}
