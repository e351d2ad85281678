/** Time limit of an attempt, without waits at its own location. */
export class Deadline {
  readonly #over = new AbortController();
  readonly signal: AbortSignal;
  #leftMs: number;
  #sinceMs = performance.now();
  #timer: NodeJS.Timeout;
  /** Number of waits in progress that do not count: connections of a browser wait concurrently. */
  #outside = 0;
  #isEnded = false;

  /** `stopping` ends it immediately. */
  constructor(ms: number, stopping: AbortSignal) {
    this.#leftMs = ms;
    this.signal = AbortSignal.any([this.#over.signal, stopping]);
    this.#timer = this.#start();
  }

  /** Runs work whose time does not count. */
  async outside<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#outside++ === 0) {
      clearTimeout(this.#timer);
      this.#leftMs -= performance.now() - this.#sinceMs;
    }
    try {
      return await work();
    } finally {
      if (--this.#outside === 0 && !this.#isEnded) {
        this.#sinceMs = performance.now();
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
      () => this.#over.abort(new DOMException('the time limit was exceeded', 'TimeoutError')),
      this.#leftMs,
    );
  }
}
