/** Placements of rows as known to one server. */
import { UnavailableError } from '../../schemas/errors.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { emptyShardMarker, placementsTable } from '../../schemas/tables/placements.ts';
import { getShardOfPartition, getTenantPartition } from '../../schemas/tables/sharding.ts';
import type { ClickhouseServer } from './server.ts';

/** A row of `placements` */
export interface Placement {
  readonly shards: number;
  readonly shard: number;
  readonly tenant: string;
  readonly table: string;
}

export const createException = (shard: number, tenant = '', table = ''): Placement => ({
  shards: 0,
  shard,
  tenant,
  table,
});
/** Key of a placement, independent of the server that stores it. */
export const toPlacementKey = ({ shards, shard, tenant, table }: Placement): string =>
  JSON.stringify([shards, shards > 0 ? 0 : shard, tenant, table]);
export const toTenantTableKey = (tenant: string, table: string): string => JSON.stringify([tenant, table]);

/** Placements that one server knows. */
export class ServerPlacements {
  /** Index of the server's shard, by number of shards. */
  readonly layouts = new Map<number, number>();
  /** Shards that may have rows of any tenant */
  readonly unrestrictedShards = new Set<number>();
  /** Shards without rows */
  readonly emptyShards = new Set<number>();
  readonly #exceptions = new Map<string, Set<number>>();
  readonly rows: readonly Placement[];
  readonly #server: string;
  readonly #cluster: string | undefined;
  /** Number of shards of the cluster that the server knows */
  readonly #knownShardCount: number;

  constructor(
    server: string,
    { rows, cluster, known }: { rows: readonly Placement[]; cluster: string | undefined; known: number },
  ) {
    this.rows = rows;
    this.#server = server;
    this.#cluster = cluster;
    this.#knownShardCount = known;
    for (const { shards, shard, tenant, table } of rows) {
      if (shards > 0) this.layouts.set(shards, shard);
      else if (table === emptyShardMarker) this.emptyShards.add(shard);
      else if (tenant === '') this.unrestrictedShards.add(shard);
      else {
        const key = toTenantTableKey(tenant, table);
        this.#exceptions.set(key, (this.#exceptions.get(key) ?? new Set()).add(shard));
      }
    }
  }

  /** Number of shards, from the first on, that together have all rows */
  get #requiredShardCount(): number {
    const all = [
      ...this.#exceptions.values(),
      this.unrestrictedShards,
      new Set([...this.layouts.keys()].map((count) => count - 1)),
    ];
    let last = Math.max(-1, ...all.flatMap((shards) => [...shards]));
    while (this.emptyShards.has(last)) last--;
    return last + 1;
  }

  /** All shards that may have any rows */
  get all(): Set<number> {
    return new Set(
      Array.from({ length: Math.max(this.#requiredShardCount, this.#knownShardCount) }, (_, shard) => shard),
    );
  }

  /** Throws if the server does not know all shards with rows, because its results would be incomplete. */
  checkAllShardsKnown(): void {
    const requiredCount = this.#requiredShardCount;
    if (requiredCount <= Math.max(1, this.#knownShardCount)) return;
    const forgetAdvice = `if its rows are permanently lost, run oiq clickhouse forget ${requiredCount}`;
    throw new UnavailableError(
      this.#cluster === undefined
        ? `the ClickHouse server ${this.#server} has a part of the rows, as one of ${requiredCount} shards: name their cluster in OIQ_CLICKHOUSE_CLUSTER, or empty the others first (oiq clickhouse empty ${requiredCount}); ${forgetAdvice}`
        : `${this.#server} knows ${this.#knownShardCount} of the ${requiredCount} shards of the cluster ${this.#cluster} that have rows: put shard ${requiredCount} back into remote_servers of all servers, and empty it before you remove it (oiq clickhouse empty ${requiredCount}); ${forgetAdvice}`,
    );
  }

  /** Returns all shards that may have rows of a slot. */
  findShardsOfSlot(slot: number): Set<number> {
    const shards = new Set(this.unrestrictedShards);
    for (const count of this.layouts.keys()) shards.add(getShardOfPartition(slot, count));
    return shards;
  }

  /** Returns all shards that may have a tenant's rows in tables into which sinks insert. */
  findShardsOfTenant(tenant: string, tables: Iterable<string>): Set<number> {
    const shards = this.findShardsOfSlot(getTenantPartition(tenant));
    for (const table of tables)
      for (const shard of this.#exceptions.get(toTenantTableKey(tenant, table)) ?? []) shards.add(shard);
    return shards;
  }
}

/** Reads the placements of a server. `cluster` is undefined for a server outside a cluster. */
export const fetchPlacements = async (
  server: ClickhouseServer,
  cluster: string | undefined,
): Promise<ServerPlacements> => {
  const known =
    cluster === undefined
      ? '1'
      : `(SELECT toUInt32(max(shard_num)) FROM system.clusters WHERE cluster = ${quoteString(cluster)})`;
  const rows = await server.select<Placement & { readonly known: number }>(
    `SELECT DISTINCT toUInt32(shards) AS shards, toUInt32(shard) AS shard, tenant, landed_in AS table, ${known} AS known FROM ${placementsTable.name}`,
  );
  return new ServerPlacements(server.name, {
    rows: rows.map(({ known: _, ...row }) => row),
    cluster,
    known: rows[0]?.known ?? 1,
  });
};

/** The statement that inserts placements on a server. */
export const buildInsertPlacements = (rows: readonly Placement[]): string => {
  const tuples = rows.map(
    ({ shards, shard, tenant, table }) => `(${shards}, ${shard}, ${quoteString(tenant)}, ${quoteString(table)})`,
  );
  return `INSERT INTO ${placementsTable.name} (shards, shard, tenant, landed_in) VALUES ${tuples.join(', ')}`;
};

/** The statement that marks a number of shards, from the first on, as receiving rows again. */
export const buildReactivateShards = (shards: number): string =>
  `ALTER TABLE ${placementsTable.name} DELETE WHERE landed_in = ${quoteString(emptyShardMarker)} AND shard < ${shards} SETTINGS mutations_sync = 1`;
