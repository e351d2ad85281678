/** Time limit of an attempt. Waits that the location of the probe causes do not count. */
export class Deadline {
  readonly #timeout = new AbortController();
  readonly signal: AbortSignal;
  #remainingMs: number;
  #startedMs = performance.now();
  #timer: NodeJS.Timeout;
  /** Number of waits in progress that do not count: connections of a browser wait concurrently. */
  #uncountedWaits = 0;
  #isEnded = false;

  /** `stopping` ends it immediately. */
  constructor(ms: number, stopping: AbortSignal) {
    this.#remainingMs = ms;
    this.signal = AbortSignal.any([this.#timeout.signal, stopping]);
    this.#timer = this.#start();
  }

  /** Runs work whose time does not count. */
  async runUncounted<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#uncountedWaits++ === 0) {
      clearTimeout(this.#timer);
      this.#remainingMs -= performance.now() - this.#startedMs;
    }
    try {
      return await work();
    } finally {
      if (--this.#uncountedWaits === 0 && !this.#isEnded) {
        this.#startedMs = performance.now();
        this.#timer = this.#start();
      }
    }
  }

  /** Ends the deadline, which then no longer expires. */
  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
  }

  #start(): NodeJS.Timeout {
    return setTimeout(
      () => this.#timeout.abort(new DOMException('the time limit was exceeded', 'TimeoutError')),
      this.#remainingMs,
    );
  }
}
