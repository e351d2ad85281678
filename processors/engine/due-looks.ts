/** When a schedule looks for what is due. A process with nothing to do wakes up seldom. */

export interface DueLooksOptions {
  /** Starts what is due; answers when the next is. */
  readonly look: () => number;
  readonly now: () => number;
  /** The shortest time between two looks. */
  readonly leastMs: number;
  readonly timers?: {
    setTimeout(work: () => void, ms: number): NodeJS.Timeout;
    clearTimeout(timer?: NodeJS.Timeout): void;
  };
}

/** Of the shortest time: it looks that seldom where nothing is due, since clocks are set and documents fall behind. */
const most = 10;

/** How long it waits where nothing is due: to a round moment, so that all schedules wake the process up at once. */
const idleMs = (nowMs: number, leastMs: number): number => {
  const waitMs = most * leastMs - (nowMs % (most * leastMs));
  return waitMs < leastMs ? waitMs + most * leastMs : waitMs;
};

/** Looks when something is due, until `stop`. */
export class DueLooks {
  readonly #options: DueLooksOptions;
  readonly #timers: NonNullable<DueLooksOptions['timers']>;
  #timer: NodeJS.Timeout | undefined;
  /** When it looks next. */
  #atMs = Number.POSITIVE_INFINITY;
  #isStopped = false;

  constructor(options: DueLooksOptions) {
    this.#options = options;
    this.#timers = options.timers ?? globalThis;
    this.#arm(Number.NEGATIVE_INFINITY);
  }

  /** Something is due at a time that the last look did not know of. */
  due(dueMs: number): void {
    const { now, leastMs } = this.#options;
    if (!this.#isStopped && Math.max(dueMs, now() + leastMs) < this.#atMs) this.#arm(dueMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timers.clearTimeout(this.#timer);
  }

  #arm(dueMs: number): void {
    const { now, leastMs } = this.#options;
    const nowMs = now();
    const isSoon = dueMs - nowMs <= most * leastMs;
    const waitMs = isSoon ? Math.max(dueMs - nowMs, leastMs) : idleMs(nowMs, leastMs);
    this.#atMs = nowMs + waitMs;
    this.#timers.clearTimeout(this.#timer);
    this.#timer = this.#timers.setTimeout(() => this.#look(), waitMs);
  }

  #look(): void {
    this.#atMs = Number.NEGATIVE_INFINITY;
    const dueMs = this.#options.look();
    if (!this.#isStopped) this.#arm(dueMs);
  }
}
