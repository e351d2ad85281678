/**
 * Fair queue for statements to ClickHouse and other work. Tenants alternate, one statement each, and so do the people of
 * a tenant. Statements of one person run in order of arrival. A tenant with a hundred statements therefore delays another tenant only by the statements that are
 * already running.
 */

export interface FairQueueLimits {
  /** Maximum number of concurrent statements. */
  readonly slots: number;
  /**
   * Maximum number per tenant: fewer than the total, so that other tenants find a free slot while one tenant has long
   * statements.
   */
  readonly maxSlotsPerTenant: number;
  /** Maximum number of waiting statements per tenant. */
  readonly maxWaitingPerTenant: number;
}

interface Waiter {
  readonly start: () => void;
  readonly callerId: string;
}

/** Thrown if a tenant already has too many waiting statements. */
export class TooManyWaitingError extends Error {}

export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** Tenants with waiting statements, in rotation order. */
  readonly #waitersByTenant = new Map<string, Waiter[]>();
  readonly #runningByTenant = new Map<string, number>();
  /** When each person of a tenant with waiting statements was last served, as a number in order */
  readonly #servedByTenant = new Map<string, Map<string, number>>();
  #servedCount = 0;
  #runningCount = 0;
  #waitingCount = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  get runningCount(): number {
    return this.#runningCount;
  }

  get waitingCount(): number {
    return this.#waitingCount;
  }

  /**
   * Resolves when the statement may run; call the returned function once the statement has ended. If the signal aborts
   * first, removes the statement from the queue and rejects with the signal's reason. Rejects with `TooManyWaitingError`
   * immediately if the tenant's queue is full.
   */
  async acquire(tenantId: string, signal?: AbortSignal, callerId = ''): Promise<() => void> {
    signal?.throwIfAborted();
    const release = this.tryAcquire(tenantId);
    if (release !== undefined) return release;
    const queue = this.#waitersByTenant.get(tenantId) ?? [];
    if (queue.length >= this.#limits.maxWaitingPerTenant) throw new TooManyWaitingError();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { start: resolve, callerId };
    queue.push(waiter);
    this.#waitersByTenant.set(tenantId, queue);
    this.#waitingCount++;
    const cancelWait = (): void => {
      if (this.#removeWaiter(tenantId, waiter)) reject(signal?.reason);
    };
    signal?.addEventListener('abort', cancelWait, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', cancelWait);
    }
    return () => this.#release(tenantId);
  }

  /** As `acquire`, for a free slot only, without the cost of waiting; undefined if the statement would have to wait. */
  tryAcquire(tenantId: string): (() => void) | undefined {
    const { slots, maxSlotsPerTenant } = this.#limits;
    const running = this.#runningByTenant.get(tenantId) ?? 0;
    if (this.#runningCount >= slots || running >= maxSlotsPerTenant) return undefined;
    this.#countStarted(tenantId);
    return () => this.#release(tenantId);
  }

  #countStarted(tenantId: string): void {
    this.#runningByTenant.set(tenantId, (this.#runningByTenant.get(tenantId) ?? 0) + 1);
    this.#runningCount++;
  }

  /** Returns whether the statement was still waiting. */
  #removeWaiter(tenantId: string, waiter: Waiter): boolean {
    const queue = this.#waitersByTenant.get(tenantId) ?? [];
    const index = queue.indexOf(waiter);
    if (index < 0) return false;
    queue.splice(index, 1);
    if (queue.length === 0) this.#waitersByTenant.delete(tenantId);
    this.#waitingCount--;
    return true;
  }

  #release(tenantId: string): void {
    const remaining = (this.#runningByTenant.get(tenantId) ?? 1) - 1;
    if (remaining === 0) this.#runningByTenant.delete(tenantId);
    else this.#runningByTenant.set(tenantId, remaining);
    this.#runningCount--;
    this.#startNext();
  }

  /** Returns the waiter of the person who was served least recently; of one person, the first. */
  #selectWaiter(tenantId: string, queue: readonly Waiter[]): Waiter {
    const served = this.#servedByTenant.get(tenantId) ?? new Map<string, number>();
    const getServed = ({ callerId }: Waiter): number => served.get(callerId) ?? 0;
    const waiter = queue.reduce((first, waiter) => (getServed(waiter) < getServed(first) ? waiter : first));
    this.#servedCount++;
    if (queue.length > 1) this.#servedByTenant.set(tenantId, served.set(waiter.callerId, this.#servedCount));
    else this.#servedByTenant.delete(tenantId);
    return waiter;
  }

  #startNext(): void {
    const { slots, maxSlotsPerTenant } = this.#limits;
    while (this.#runningCount < slots) {
      const nextEntry = [...this.#waitersByTenant].find(
        ([tenantId]) => (this.#runningByTenant.get(tenantId) ?? 0) < maxSlotsPerTenant,
      );
      if (nextEntry === undefined) return;
      const [tenantId, queue] = nextEntry;
      const waiter = this.#selectWaiter(tenantId, queue);
      this.#removeWaiter(tenantId, waiter);
      // Moves the tenant to the end of the rotation.
      if (this.#waitersByTenant.delete(tenantId)) this.#waitersByTenant.set(tenantId, queue);
      this.#countStarted(tenantId);
      waiter.start();
    }
  }
}
