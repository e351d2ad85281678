/**
 * Queues back-fills, which measure the time before an SLO was created, so that large ones do not delay the slices that end now.
 */

interface WaitingBackFill {
  readonly start: (isInTime: boolean) => void;
  readonly untilMs: number;
}

/** Runs one back-fill per organization at a time. A back-fill that waits too long is skipped until the next run. */
export class BackFillQueue {
  readonly #now: () => number;
  readonly #waiting = new Map<string, WaitingBackFill[]>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Runs `work` when the organization's queue reaches it. If that is after `untilMs`, it does not run. */
  async runQueued(tenantId: string, untilMs: number, work: () => Promise<void>): Promise<void> {
    const others = this.#waiting.get(tenantId);
    if (others === undefined) this.#waiting.set(tenantId, []);
    else if (!(await new Promise<boolean>((start) => others.push({ start, untilMs })))) return;
    try {
      await work();
    } finally {
      this.#startNext(tenantId);
    }
  }

  #startNext(tenantId: string): void {
    const waiting = this.#waiting.get(tenantId) ?? [];
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const isInTime = this.#now() <= next.untilMs;
      next.start(isInTime);
      if (isInTime) return;
    }
    this.#waiting.delete(tenantId);
  }
}
