/** The time that an attempt has: what it waits for at its own location is not counted. */
export class Deadline {
  readonly #over = new AbortController();
  readonly signal: AbortSignal;
  #leftMs: number;
  #sinceMs = performance.now();
  #timer: NodeJS.Timeout;
  /** How much is done outside of it now: connections of a browser wait side by side. */
  #outside = 0;
  #isEnded = false;

  /** `stopping` ends it at once. */
  constructor(ms: number, stopping: AbortSignal) {
    this.#leftMs = ms;
    this.signal = AbortSignal.any([this.#over.signal, stopping]);
    this.#timer = this.#start();
  }

  /** Does what takes no time of it. */
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

  /** Nothing is over any more. */
  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => this.#over.abort(new DOMException('its time is over', 'TimeoutError')), this.#leftMs);
  }
}
