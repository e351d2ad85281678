/** Limits the CPU time of live tails. */

/** Share of one core for all listening tenants, in equal parts. */
const share = 0.25;
/** CPU time that an idle tenant may use at once. */
const burstMs = 500;

interface Account {
  leftMs: number;
  at: number;
}

/** Counts CPU time per tenant. A tenant without remaining time is skipped until it has some again. */
export class TenantTime {
  readonly #accounts = new Map<string, Account>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  hasTime(tenantId: string): boolean {
    return this.#account(tenantId).leftMs > 0;
  }

  spend(tenantId: string, ms: number): void {
    this.#account(tenantId).leftMs -= ms;
  }

  /** Forgets a tenant that has no listeners. */
  forget(tenantId: string): void {
    this.#accounts.delete(tenantId);
  }

  #account(tenantId: string): Account {
    const now = this.#now();
    const account = this.#accounts.get(tenantId) ?? { leftMs: burstMs, at: now };
    this.#accounts.set(tenantId, account);
    const earned = ((now - account.at) * share) / this.#accounts.size;
    account.leftMs = Math.min(burstMs, account.leftMs + earned);
    account.at = now;
    return account;
  }
}
