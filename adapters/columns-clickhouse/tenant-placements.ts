/** What one server was told of where rows lie. */
import { UnavailableError } from '../../schemas/errors.ts';
import { quote } from '../../schemas/tables/literal.ts';
import { emptied, placementsTable } from '../../schemas/tables/placements.ts';
import { placeOfTenant, shardOfPlace } from '../../schemas/tables/sharding.ts';
import type { ClickhouseServer } from './server.ts';

/** A row of `placements`. */
export interface Placement {
  readonly shards: number;
  readonly shard: number;
  readonly tenant: string;
  readonly landed_in: string;
}

export const elsewhere = (shard: number, tenant = '', landedIn = ''): Placement => ({
  shards: 0,
  shard,
  tenant,
  landed_in: landedIn,
});
/** What it tells, whichever server it is told to. */
export const keyOf = ({ shards, shard, tenant, landed_in }: Placement): string =>
  JSON.stringify([shards, shards > 0 ? 0 : shard, tenant, landed_in]);
export const pairOf = (tenant: string, table: string): string => JSON.stringify([tenant, table]);

/** What one server was told. */
export class KnownPlacements {
  /** Number of shards → which of them the server was. */
  readonly layouts = new Map<number, number>();
  /** On which anything may lie. */
  readonly ofAll = new Set<number>();
  /** Those without rows. */
  readonly emptied = new Set<number>();
  readonly #exceptions = new Map<string, Set<number>>();
  readonly rows: readonly Placement[];
  readonly #server: string;
  readonly #cluster: string | undefined;
  /** How many shards of the cluster the server knows. */
  readonly #known: number;

  constructor(
    server: string,
    { rows, cluster, known }: { rows: readonly Placement[]; cluster: string | undefined; known: number },
  ) {
    this.rows = rows;
    this.#server = server;
    this.#cluster = cluster;
    this.#known = known;
    for (const { shards, shard, tenant, landed_in } of rows) {
      if (shards > 0) this.layouts.set(shards, shard);
      else if (landed_in === emptied) this.emptied.add(shard);
      else if (tenant === '') this.ofAll.add(shard);
      else {
        const key = pairOf(tenant, landed_in);
        this.#exceptions.set(key, (this.#exceptions.get(key) ?? new Set()).add(shard));
      }
    }
  }

  /** How many shards, from the first on, hold all rows. */
  get #needed(): number {
    const all = [...this.#exceptions.values(), this.ofAll, new Set([...this.layouts.keys()].map((count) => count - 1))];
    let last = Math.max(-1, ...all.flatMap((shards) => [...shards]));
    while (this.emptied.has(last)) last--;
    return last + 1;
  }

  /** All shards that may have any rows. */
  get all(): Set<number> {
    return new Set(Array.from({ length: Math.max(this.#needed, this.#known) }, (_, shard) => shard));
  }

  /** Rejects where the server does not know all shards on which rows lie: what it answers would lack some. */
  checkWhole(): void {
    const needed = this.#needed;
    if (needed <= Math.max(1, this.#known)) return;
    const forget = `if its rows are gone for good, run oiq clickhouse forget ${needed}`;
    throw new UnavailableError(
      this.#cluster === undefined
        ? `the ClickHouse server ${this.#server} has a part of the rows, as one of ${needed} shards: name their cluster in OIQ_CLICKHOUSE_CLUSTER, or empty the others first (oiq clickhouse empty ${needed}); ${forget}`
        : `${this.#server} knows ${this.#known} of the ${needed} shards of the cluster ${this.#cluster} on which rows lie: put shard ${needed} back into remote_servers of all servers, and empty it before it is taken out (oiq clickhouse empty ${needed}); ${forget}`,
    );
  }

  /** All shards that may have rows of a place. */
  ofPlace(place: number): Set<number> {
    const shards = new Set(this.ofAll);
    for (const count of this.layouts.keys()) shards.add(shardOfPlace(place, count));
    return shards;
  }

  /** All shards that may have a tenant's rows in tables into which sinks insert. */
  ofTenant(tenant: string, tables: Iterable<string>): Set<number> {
    const shards = this.ofPlace(placeOfTenant(tenant));
    for (const table of tables)
      for (const shard of this.#exceptions.get(pairOf(tenant, table)) ?? []) shards.add(shard);
    return shards;
  }
}

/** Asks a server. `cluster` is undefined of one that is none of a cluster. */
export const fetchPlacements = async (
  server: ClickhouseServer,
  cluster: string | undefined,
): Promise<KnownPlacements> => {
  const known =
    cluster === undefined
      ? '1'
      : `(SELECT toUInt32(max(shard_num)) FROM system.clusters WHERE cluster = ${quote(cluster)})`;
  const rows = await server.select<Placement & { readonly known: number }>(
    `SELECT DISTINCT toUInt32(shards) AS shards, toUInt32(shard) AS shard, tenant, landed_in, ${known} AS known FROM ${placementsTable.name}`,
  );
  return new KnownPlacements(server.name, {
    rows: rows.map(({ known: _, ...row }) => row),
    cluster,
    known: rows[0]?.known ?? 1,
  });
};

/** Tells a server. */
export const insertOf = (rows: readonly Placement[]): string => {
  const tuples = rows.map(
    ({ shards, shard, tenant, landed_in }) => `(${shards}, ${shard}, ${quote(tenant)}, ${quote(landed_in)})`,
  );
  return `INSERT INTO ${placementsTable.name} (shards, shard, tenant, landed_in) VALUES ${tuples.join(', ')}`;
};

/** Tells a server that so many shards, from the first on, get rows again. */
export const reactivateShards = (shards: number): string =>
  `ALTER TABLE ${placementsTable.name} DELETE WHERE landed_in = ${quote(emptied)} AND shard < ${shards} SETTINGS mutations_sync = 1`;
