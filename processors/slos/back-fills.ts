/** The time before an objective was made is measured in turns, so that much of it delays no slice that ends now. */

interface Waiting {
  readonly begin: (isInTime: boolean) => void;
  readonly untilMs: number;
}

/** One at a time of each organization; who waits for too long does without, and comes again with its next look. */
export class BackFills {
  readonly #now: () => number;
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Runs `work` when it is the organization's turn. Where that is after `untilMs`, it is not run. */
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
