/** How often a location sends to one address, whoever asks for it. */

/** Requests in any second to one address. */
export const maxPerSecond = 20;
const secondMs = 1000;
/** Nobody waits longer for a turn, unless it says so. */
const defaultWaitMs = 5000;
/** Addresses that are remembered before those that are idle are forgotten. */
const manyAddresses = 1000;

/** No turn came in time. */
export class PaceError extends Error {
  override name = 'PaceError';
}

/** Turns of one address. */
interface Line {
  /** When the last requests went, the oldest first. */
  readonly went: number[];
  /** Those that wait, in their order. */
  readonly waiting: Set<() => void>;
  timer?: NodeJS.Timeout;
}

/** Deals turns to addresses. A process has one, so that it holds for all organizations. */
export class Pace {
  readonly #maxWaitMs: number;
  readonly #lines = new Map<string, Line>();
  #inSecond = maxPerSecond;

  constructor(maxWaitMs = defaultWaitMs) {
    this.#maxWaitMs = maxWaitMs;
  }

  /** The part of this process where several probes of a location share its checks. */
  share(probes: number): void {
    this.#inSecond = Math.max(1, Math.floor(maxPerSecond / probes));
  }

  /** Resolves when a request to the address may go. Rejects with `PaceError` where no turn comes in time, and when the signal aborts. */
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

  #lineOf(address: string): Line {
    const known = this.#lines.get(address);
    if (known !== undefined) return known;
    const nowMs = performance.now();
    if (this.#lines.size >= manyAddresses)
      for (const [one, { went, waiting }] of this.#lines)
        if (waiting.size === 0 && nowMs - (went.at(-1) ?? 0) > secondMs) this.#lines.delete(one);
    const line: Line = { went: [], waiting: new Set() };
    this.#lines.set(address, line);
    return line;
  }

  #deal(line: Line): void {
    clearTimeout(line.timer);
    for (const go of line.waiting) {
      const nowMs = performance.now();
      const oldestMs = line.went.at(-this.#inSecond);
      if (oldestMs !== undefined && nowMs - oldestMs < secondMs) {
        line.timer = setTimeout(() => this.#deal(line), Math.ceil(oldestMs + secondMs - nowMs));
        return;
      }
      line.waiting.delete(go);
      line.went.push(nowMs);
      if (line.went.length > maxPerSecond) line.went.shift();
      go();
    }
  }
}
