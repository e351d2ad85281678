/** When a schedule looks for what is due. A process with nothing to do wakes up seldom. */

export interface DueTimerOptions {
  /** Starts what is due; answers when the next is. */
  readonly runDue: () => number;
  readonly now: () => number;
  /** The shortest time between two looks. */
  readonly minIntervalMs: number;
  readonly timers?: {
    setTimeout(work: () => void, ms: number): NodeJS.Timeout;
    clearTimeout(timer?: NodeJS.Timeout): void;
  };
}

/** Of the shortest time: it looks that seldom where nothing is due, since clocks are set and documents fall behind. */
const idleFactor = 10;

/** How long it waits where nothing is due: to a round moment, so that all schedules wake the process up at once. */
const idleMs = (nowMs: number, minIntervalMs: number): number => {
  const waitMs = idleFactor * minIntervalMs - (nowMs % (idleFactor * minIntervalMs));
  return waitMs < minIntervalMs ? waitMs + idleFactor * minIntervalMs : waitMs;
};

/** Looks when something is due, until `stop`. */
export class DueTimer {
  readonly #options: DueTimerOptions;
  readonly #timers: NonNullable<DueTimerOptions['timers']>;
  #timer: NodeJS.Timeout | undefined;
  /** When it looks next. */
  #atMs = Number.POSITIVE_INFINITY;
  #isStopped = false;

  constructor(options: DueTimerOptions) {
    this.#options = options;
    this.#timers = options.timers ?? globalThis;
    this.#arm(Number.NEGATIVE_INFINITY);
  }

  /** Something is due at a time that the last look did not know of. */
  due(dueMs: number): void {
    const { now, minIntervalMs } = this.#options;
    if (!this.#isStopped && Math.max(dueMs, now() + minIntervalMs) < this.#atMs) this.#arm(dueMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timers.clearTimeout(this.#timer);
  }

  #arm(dueMs: number): void {
    const { now, minIntervalMs } = this.#options;
    const nowMs = now();
    const isSoon = dueMs - nowMs <= idleFactor * minIntervalMs;
    const waitMs = isSoon ? Math.max(dueMs - nowMs, minIntervalMs) : idleMs(nowMs, minIntervalMs);
    this.#atMs = nowMs + waitMs;
    this.#timers.clearTimeout(this.#timer);
    this.#timer = this.#timers.setTimeout(() => this.#run(), waitMs);
  }

  #run(): void {
    this.#atMs = Number.NEGATIVE_INFINITY;
    const dueMs = this.#options.runDue();
    if (!this.#isStopped) this.#arm(dueMs);
  }
}
