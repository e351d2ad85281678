/** Maximum number of names per thread, organization and hour of reception that are counted individually. */
const maxNames = 2_000;
const maxTenants = 10_000;

/**
 * Names of an organization that are counted individually: the first ones of the hour. Otherwise a sender with generated
 * keys (IDs, times) would fill the table with useless names.
 */
export class KnownFields {
  readonly #tenants = new Map<string, { hour: number; readonly names: Set<string> }>();

  /** Returns whether a name is counted individually. `hour` is that of reception. */
  admitName(tenantId: string, hour: number, name: string): boolean {
    let known = this.#tenants.get(tenantId);
    if (known === undefined || known.hour !== hour) {
      if (this.#tenants.size >= maxTenants) this.#tenants.clear();
      known = { hour, names: new Set() };
      this.#tenants.set(tenantId, known);
    }
    if (known.names.has(name)) return true;
    if (known.names.size >= maxNames) return false;
    known.names.add(name);
    return true;
  }
}
