/** Names that one thread counts by themselves, of one organization in one hour of reception. */
const maxNames = 2_000;
const maxTenants = 10_000;

/**
 * Which names of an organization are counted by themselves: as many as came first in the hour. A sender that makes up keys (ids, times)
 * would else fill the table with names that nobody looks for.
 */
export class KnownFields {
  readonly #tenants = new Map<string, { hour: number; readonly names: Set<string> }>();

  /** Whether a name is one of them. `hour` is that of reception. */
  admits(tenantId: string, hour: number, name: string): boolean {
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
