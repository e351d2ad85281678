/** Measures the share of a thread that each tenant uses. */

/** Window over which a share is measured. */
const windowMs = 60_000;
/**
 * Above this share, the thread counts as busy. If it is idle for more than a fifth of the time, no tenant waits for
 * another.
 */
const busyShare = 0.8;

export class ThreadShares {
  #sinceMs = Number.NaN;
  #busyMs = 0;
  readonly #usage = new Map<string, { tenantId: string; ms: number }>();
  #usedShares = new Map<string, number>();

  /** Adds the time a tenant used for a processor. `nowMs` is any monotonic clock. */
  add(processor: string, tenantId: string, ms: number, nowMs: number): void {
    if (!(nowMs - this.#sinceMs < windowMs)) this.#closeWindow(nowMs);
    this.#busyMs += ms;
    const key = `${processor}\n${tenantId}`;
    const existing = this.#usage.get(key);
    if (existing === undefined) this.#usage.set(key, { tenantId, ms });
    else existing.ms += ms;
  }

  /**
   * Returns whether the tenant used more than this share of the last minute while others waited. Returns true once per
   * minute.
   */
  isOver(processor: string, tenantId: string, share: number): boolean {
    const key = `${processor}\n${tenantId}`;
    const usedShare = this.#usedShares.get(key) ?? 0;
    this.#usedShares.delete(key);
    return usedShare > share;
  }

  #closeWindow(nowMs: number): void {
    const lengthMs = nowMs - this.#sinceMs;
    const tenants = new Set([...this.#usage.values()].map(({ tenantId }) => tenantId));
    const areOthersWaiting = tenants.size > 1 && this.#busyMs > busyShare * lengthMs;
    this.#usedShares = areOthersWaiting
      ? new Map([...this.#usage].map(([key, { ms }]) => [key, ms / lengthMs]))
      : new Map();
    this.#usage.clear();
    this.#busyMs = 0;
    this.#sinceMs = nowMs;
  }
}
