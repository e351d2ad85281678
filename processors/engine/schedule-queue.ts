/** Limits concurrent runs in total and per tenant, and serves tenants in rotation. */

export interface QueueLimits {
  readonly total: number;
  readonly perTenant: number;
}

interface TenantQueue {
  readonly waiting: (() => Promise<void>)[];
  running: number;
  /** Whether the tenant is in the rotation. */
  isQueued: boolean;
}

export class FairQueue {
  readonly #limits: QueueLimits;
  readonly #tenants = new Map<string, TenantQueue>();
  /** Tenants below their limit with waiting work, in rotation order. */
  readonly #readyTenants: TenantQueue[] = [];
  #running = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** Calls `work` when a run is free. `work` must handle its own rejections. */
  add(tenantId: string, work: () => Promise<void>): void {
    const tenant = this.#tenants.get(tenantId) ?? { waiting: [], running: 0, isQueued: false };
    this.#tenants.set(tenantId, tenant);
    tenant.waiting.push(work);
    this.#enqueue(tenant);
    this.#startReady();
  }

  #enqueue(tenant: TenantQueue): void {
    if (tenant.isQueued || tenant.waiting.length === 0 || tenant.running >= this.#limits.perTenant) return;
    tenant.isQueued = true;
    this.#readyTenants.push(tenant);
  }

  #startReady(): void {
    while (this.#running < this.#limits.total) {
      const tenant = this.#readyTenants.shift();
      if (tenant === undefined) return;
      tenant.isQueued = false;
      const work = tenant.waiting.shift();
      if (work === undefined) continue;
      this.#running++;
      tenant.running++;
      this.#enqueue(tenant);
      const onEnd = (): void => this.#endRun(tenant);
      work().then(onEnd, onEnd);
    }
  }

  #endRun(tenant: TenantQueue): void {
    this.#running--;
    tenant.running--;
    this.#enqueue(tenant);
    this.#startReady();
  }
}
