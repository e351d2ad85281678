/**
 * Queues the measurement of the time before an SLO was created, so that large back-fills delay no slice that ends now.
 */

interface WaitingBackFill {
  readonly begin: (isInTime: boolean) => void;
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
    else if (!(await new Promise<boolean>((begin) => others.push({ begin, untilMs })))) return;
    try {
      await work();
    } finally {
      this.#next(tenantId);
    }
  }

  #next(tenantId: string): void {
    const waiting = this.#waiting.get(tenantId) ?? [];
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const isInTime = this.#now() <= next.untilMs;
      next.begin(isInTime);
      if (isInTime) return;
    }
    this.#waiting.delete(tenantId);
  }
}
