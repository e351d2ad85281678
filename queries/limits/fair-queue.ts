/**
 * Fair queue for statements of the engine. Statements of one tenant run in order of arrival; tenants alternate, one
 * statement each. A tenant with a hundred statements therefore delays another one only by the statements already
 * running.
 */

export interface FairQueueLimits {
  /** Maximum number of concurrent statements. */
  readonly slots: number;
  /**
   * Maximum per tenant: fewer than the total, so that others find a free slot while one tenant's statements run long.
   */
  readonly slotsPerTenant: number;
  /** Maximum number of waiting statements per tenant. */
  readonly waitingPerTenant: number;
}

interface Waiter {
  readonly start: () => void;
}

/** Thrown if a tenant already has too many waiting statements. */
export class TooManyWaiting extends Error {}

export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** Tenants with waiting statements, in rotation order. */
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
   * Resolves when the statement may run; call the returned function once it has ended. Rejects with the reason of the
   * signal if it aborts first, and the statement has then left the queue. Rejects with `TooManyWaiting` at once if the
   * tenant's queue is full.
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

  /** As `acquire`, for a statement that need not wait, without the setup for waiting; undefined if it must wait. */
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

  /** Returns whether the statement was still waiting. */
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
      // Moves the tenant to the end of the rotation.
      if (this.#waiting.delete(tenantId)) this.#waiting.set(tenantId, queue);
      this.#begin(tenantId);
      waiter.start();
    }
  }
}
