/** How many runs go on at once: a limit for all and one for each tenant, and tenants in turn. */

export interface QueueLimits {
  readonly total: number;
  readonly perTenant: number;
}

interface Tenant {
  readonly waiting: (() => Promise<void>)[];
  running: number;
  /** Whether it is among those whose turn comes. */
  queued: boolean;
}

export class FairQueue {
  readonly #limits: QueueLimits;
  readonly #tenants = new Map<string, Tenant>();
  /** Tenants that have work waiting and are below their limit, in the order of their turns. */
  readonly #readyTenants: Tenant[] = [];
  #running = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** Calls `work` when it is its turn. What it rejects with is the caller's to handle within `work`. */
  add(tenantId: string, work: () => Promise<void>): void {
    const tenant = this.#tenants.get(tenantId) ?? { waiting: [], running: 0, queued: false };
    this.#tenants.set(tenantId, tenant);
    tenant.waiting.push(work);
    this.#enqueue(tenant);
    this.#start();
  }

  #enqueue(tenant: Tenant): void {
    if (tenant.queued || tenant.waiting.length === 0 || tenant.running >= this.#limits.perTenant) return;
    tenant.queued = true;
    this.#readyTenants.push(tenant);
  }

  #start(): void {
    while (this.#running < this.#limits.total) {
      const tenant = this.#readyTenants.shift();
      if (tenant === undefined) return;
      tenant.queued = false;
      const work = tenant.waiting.shift();
      if (work === undefined) continue;
      this.#running++;
      tenant.running++;
      this.#enqueue(tenant);
      const end = (): void => this.#end(tenant);
      work().then(end, end);
    }
  }

  #end(tenant: Tenant): void {
    this.#running--;
    tenant.running--;
    this.#enqueue(tenant);
    this.#start();
  }
}
