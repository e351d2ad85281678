/** Maximum number of names per thread, organization and hour of reception that are counted individually. */
const maxNames = 2_000;
const maxTenants = 10_000;

/**
 * Names of an organization that are counted individually: the first ones of the hour. Otherwise a sender with generated
 * keys (IDs, times) would fill the table with meaningless names.
 */
export class KnownFields {
  readonly #namesByTenant = new Map<string, { hour: number; readonly names: Set<string> }>();

  /** Returns whether a name is counted individually. `hour` is that of reception. */
  admitName(tenantId: string, hour: number, name: string): boolean {
    let tenantNames = this.#namesByTenant.get(tenantId);
    if (tenantNames === undefined || tenantNames.hour !== hour) {
      if (this.#namesByTenant.size >= maxTenants) this.#namesByTenant.clear();
      tenantNames = { hour, names: new Set() };
      this.#namesByTenant.set(tenantId, tenantNames);
    }
    if (tenantNames.names.has(name)) return true;
    if (tenantNames.names.size >= maxNames) return false;
    tenantNames.names.add(name);
    return true;
  }
}
