/** Limits the CPU time of live tails. */

/** Share of one core that all tenants with listeners may use together, divided equally. */
const cpuShare = 0.25;
/** CPU time that an idle tenant may use at once. */
const burstMs = 500;

interface TimeAccount {
  remainingMs: number;
  updatedAtMs: number;
}

/** Counts CPU time per tenant. A tenant without remaining time is skipped until it has some again. */
export class TenantCpuTime {
  readonly #accounts = new Map<string, TimeAccount>();
  readonly #nowMs: () => number;

  constructor(getNowMs: () => number = () => performance.now()) {
    this.#nowMs = getNowMs;
  }

  hasTime(tenantId: string): boolean {
    return this.#updateAccount(tenantId).remainingMs > 0;
  }

  spend(tenantId: string, spentMs: number): void {
    this.#updateAccount(tenantId).remainingMs -= spentMs;
  }

  /** Forgets a tenant that has no listeners. */
  forget(tenantId: string): void {
    this.#accounts.delete(tenantId);
  }

  #updateAccount(tenantId: string): TimeAccount {
    const nowMs = this.#nowMs();
    const account = this.#accounts.get(tenantId) ?? { remainingMs: burstMs, updatedAtMs: nowMs };
    this.#accounts.set(tenantId, account);
    const addedMs = ((nowMs - account.updatedAtMs) * cpuShare) / this.#accounts.size;
    account.remainingMs = Math.min(burstMs, account.remainingMs + addedMs);
    account.updatedAtMs = nowMs;
    return account;
  }
}
