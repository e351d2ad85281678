/** Decides when a schedule checks for due work, so that an idle process wakes up rarely. */

export interface DueTimerOptions {
  /** Starts due work; returns the next due time. */
  readonly runDue: () => number;
  readonly now: () => number;
  /** Minimum time between two checks. */
  readonly minIntervalMs: number;
  readonly timers?: {
    setTimeout(work: () => void, ms: number): NodeJS.Timeout;
    clearTimeout(timer?: NodeJS.Timeout): void;
  };
}

/** Multiple of the minimum interval at which an idle schedule checks, because clocks may be adjusted and documents may arrive late. */
const idleFactor = 10;

/** Returns the wait until the next multiple of the idle interval, so that all idle schedules wake the process at the same time. */
const getIdleWaitMs = (nowMs: number, minIntervalMs: number): number => {
  const waitMs = idleFactor * minIntervalMs - (nowMs % (idleFactor * minIntervalMs));
  return waitMs < minIntervalMs ? waitMs + idleFactor * minIntervalMs : waitMs;
};

/** Checks whenever something is due, until `stop`. */
export class DueTimer {
  readonly #options: DueTimerOptions;
  readonly #timers: NonNullable<DueTimerOptions['timers']>;
  #timer: NodeJS.Timeout | undefined;
  /** Time of the next check. */
  #nextCheckMs = Number.POSITIVE_INFINITY;
  #isStopped = false;

  constructor(options: DueTimerOptions) {
    this.#options = options;
    this.#timers = options.timers ?? globalThis;
    this.#schedule(Number.NEGATIVE_INFINITY);
  }

  /** Registers a due time that the last check did not return. */
  addDueTime(dueMs: number): void {
    const { now, minIntervalMs } = this.#options;
    if (!this.#isStopped && Math.max(dueMs, now() + minIntervalMs) < this.#nextCheckMs) this.#schedule(dueMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timers.clearTimeout(this.#timer);
  }

  #schedule(dueMs: number): void {
    const { now, minIntervalMs } = this.#options;
    const nowMs = now();
    const isSoon = dueMs - nowMs <= idleFactor * minIntervalMs;
    const waitMs = isSoon ? Math.max(dueMs - nowMs, minIntervalMs) : getIdleWaitMs(nowMs, minIntervalMs);
    this.#nextCheckMs = nowMs + waitMs;
    this.#timers.clearTimeout(this.#timer);
    this.#timer = this.#timers.setTimeout(() => this.#run(), waitMs);
  }

  #run(): void {
    this.#nextCheckMs = Number.NEGATIVE_INFINITY;
    const dueMs = this.#options.runDue();
    if (!this.#isStopped) this.#schedule(dueMs);
  }
}
