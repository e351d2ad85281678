/** The time that an attempt has: what it waits for at its own location is not counted. */
export class Deadline {
  readonly #over = new AbortController();
  readonly signal: AbortSignal;
  #leftMs: number;
  #sinceMs = performance.now();
  #timer: NodeJS.Timeout;

  /** `stopping` ends it at once. */
  constructor(ms: number, stopping: AbortSignal) {
    this.#leftMs = ms;
    this.signal = AbortSignal.any([this.#over.signal, stopping]);
    this.#timer = this.#start();
  }

  /** Does what takes no time of it. */
  async outside<Value>(work: () => Promise<Value>): Promise<Value> {
    this.end();
    this.#leftMs -= performance.now() - this.#sinceMs;
    try {
      return await work();
    } finally {
      this.#sinceMs = performance.now();
      this.#timer = this.#start();
    }
  }

  /** Nothing is over any more. */
  end(): void {
    clearTimeout(this.#timer);
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => this.#over.abort(new DOMException('its time is over', 'TimeoutError')), this.#leftMs);
  }
}
