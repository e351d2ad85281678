/**
 * Who may ask the engine now. Statements of one tenant wait in the order in which they came; tenants take turns, one statement each. So
 * a tenant with a hundred statements delays another one's by no more than the statements that run already.
 */

export interface FairQueueLimits {
  /** Statements that run at the same time. */
  readonly slots: number;
  /** Of one tenant: fewer than all, so that others find a slot free while one tenant's run long. */
  readonly slotsPerTenant: number;
  /** Statements of one tenant that may wait. */
  readonly waitingPerTenant: number;
}

interface Waiter {
  readonly start: () => void;
}

/** Called where a tenant has too many waiting already. */
export class TooManyWaiting extends Error {}

export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** Tenants with statements that wait; the first one's turn is next. */
  readonly #waiting = new Map<string, Waiter[]>();
  readonly #running = new Map<string, number>();
  #runningCount = 0;
  #waitingCount = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#runningCount;
  }

  get waiting(): number {
    return this.#waitingCount;
  }

  /**
   * Resolves when it is the statement's turn; call what it gives once the statement has ended. Rejects with the reason of a signal that
   * aborts meanwhile, and the statement has then left the queue; with `TooManyWaiting` at once where the tenant's queue is full.
   */
  async acquire(tenantId: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const free = this.tryAcquire(tenantId);
    if (free !== undefined) return free;
    const queue = this.#waiting.get(tenantId) ?? [];
    if (queue.length >= this.#limits.waitingPerTenant) throw new TooManyWaiting();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { start: resolve };
    queue.push(waiter);
    this.#waiting.set(tenantId, queue);
    this.#waitingCount++;
    const leave = (): void => {
      if (this.#leave(tenantId, waiter)) reject(signal?.reason);
    };
    signal?.addEventListener('abort', leave, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
    return () => this.#end(tenantId);
  }

  /** As `take` of a statement that need not wait, for which nothing is set up that could end its waiting; undefined for one that must. */
  tryAcquire(tenantId: string): (() => void) | undefined {
    const { slots, slotsPerTenant } = this.#limits;
    const running = this.#running.get(tenantId) ?? 0;
    if (this.#runningCount >= slots || running >= slotsPerTenant) return undefined;
    this.#begin(tenantId);
    return () => this.#end(tenantId);
  }

  #begin(tenantId: string): void {
    this.#running.set(tenantId, (this.#running.get(tenantId) ?? 0) + 1);
    this.#runningCount++;
  }

  /** Whether it was still waiting. */
  #leave(tenantId: string, waiter: Waiter): boolean {
    const queue = this.#waiting.get(tenantId) ?? [];
    const at = queue.indexOf(waiter);
    if (at < 0) return false;
    queue.splice(at, 1);
    if (queue.length === 0) this.#waiting.delete(tenantId);
    this.#waitingCount--;
    return true;
  }

  #end(tenantId: string): void {
    const left = (this.#running.get(tenantId) ?? 1) - 1;
    if (left === 0) this.#running.delete(tenantId);
    else this.#running.set(tenantId, left);
    this.#runningCount--;
    this.#startNext();
  }

  #startNext(): void {
    const { slots, slotsPerTenant } = this.#limits;
    while (this.#runningCount < slots) {
      const next = [...this.#waiting].find(([tenantId]) => (this.#running.get(tenantId) ?? 0) < slotsPerTenant);
      if (next === undefined) return;
      const [tenantId, queue] = next;
      const waiter = queue[0] as Waiter;
      this.#leave(tenantId, waiter);
      // Behind the others: it is their turn now.
      if (this.#waiting.delete(tenantId)) this.#waiting.set(tenantId, queue);
      this.#begin(tenantId);
      waiter.start();
    }
  }
}
