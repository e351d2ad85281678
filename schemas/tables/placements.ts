import { defineTable } from './table.ts';

/** How long readers cache a server's placements. */
export const placementsCacheMs = 1_000;
/** Delay after the update of all servers until all readers know the placements. */
export const placementsPropagationMs = placementsCacheMs + 200;

/** Shard number in a row with a number of shards: the server was none of them. */
export const noShardIndex = 65_535;

/** Table name in a row for a shard without rows. */
export const emptyShardMarker = '-';

/**
 * Shards of a cluster that may contain rows. Each server stores all placements itself, before rows are inserted
 * according to them. A row has one of four meanings:
 * - `shards` > 0: the cluster had this many shards, this server was number `shard` (starting at 0), and rows were
 *   placed by the rule (`sharding.ts`).
 * - `tenant` and `landed_in`, the name of a table: rows of the tenant in this table are on `shard` too.
 * - Neither: rows of any tenant, in any table, are on `shard` too.
 * - `landed_in` is `-`: no rows are on `shard` any more, so that it may leave the cluster. The marker is removed
 * before the shard receives new rows.
 */
export const placementsTable = defineTable({
  name: 'placements',
  summary: 'Shards of a cluster that may contain rows',
  retention: 'never',
  engine: 'ReplacingMergeTree',
  columns: {
    shards: 'UInt16',
    shard: 'UInt16',
    tenant: 'String',
    landed_in: 'LowCardinality(String)',
  },
  orderBy: ['shards', 'shard', 'tenant', 'landed_in'],
});
