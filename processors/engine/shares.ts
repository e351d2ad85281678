/** Measures the share of a thread that each tenant uses. */

/** Window over which a share is measured. */
const windowMs = 60_000;
/** If a thread is idle for more than a fifth of the time, no tenant waits for another. */
const busyShare = 0.8;

export class Shares {
  #sinceMs = Number.NaN;
  #busyMs = 0;
  readonly #spent = new Map<string, { tenantId: string; ms: number }>();
  #over = new Map<string, number>();

  /** Adds the time a tenant used for a processor. `nowMs` is any monotonic clock. */
  add(processor: string, tenantId: string, ms: number, nowMs: number): void {
    if (!(nowMs - this.#sinceMs < windowMs)) this.#close(nowMs);
    this.#busyMs += ms;
    const key = `${processor}\n${tenantId}`;
    const known = this.#spent.get(key);
    if (known === undefined) this.#spent.set(key, { tenantId, ms });
    else known.ms += ms;
  }

  /**
   * Returns whether the tenant used more than this share of the last minute while others waited. Returns true once per
   * minute.
   */
  isOver(processor: string, tenantId: string, share: number): boolean {
    const key = `${processor}\n${tenantId}`;
    const usedShare = this.#over.get(key) ?? 0;
    this.#over.delete(key);
    return usedShare > share;
  }

  #close(nowMs: number): void {
    const lengthMs = nowMs - this.#sinceMs;
    const tenants = new Set([...this.#spent.values()].map(({ tenantId }) => tenantId));
    const othersWait = tenants.size > 1 && this.#busyMs > busyShare * lengthMs;
    this.#over = othersWait ? new Map([...this.#spent].map(([key, { ms }]) => [key, ms / lengthMs])) : new Map();
    this.#spent.clear();
    this.#busyMs = 0;
    this.#sinceMs = nowMs;
  }
}
