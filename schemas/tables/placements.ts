import { defineTable } from './table.ts';

/** What a server was told of shards is believed for so long by who reads it. */
export const placementsBelievedMs = 1_000;
/** So long after all servers were told, whoever reads knows. */
export const placementsKnownMs = placementsBelievedMs + 200;

/** Stands for a shard in a row that tells of so many shards: the server was none of them. */
export const noShard = 65_535;

/** Stands for a table in a row that tells of a shard without rows. */
export const emptied = '-';

/**
 * Of a cluster: which shards rows may lie on. Each server has all of it for itself, before anything lands by it. A row tells one of four:
 * - `shards` > 0: there were so many shards, of which this server was that of number `shard` (from 0 on), and rows lay by the rule (`lying.ts`).
 * - `tenant` and `landed_in`: rows of the tenant in this table lie on `shard` too.
 * - Neither: rows of anybody, in any table, lie on `shard` too.
 * - `landed_in` is `-`: no rows lie on `shard` any more, so that it may leave the cluster. Taken back before it gets new ones.
 */
export const placementsTable = defineTable({
  name: 'placements',
  summary: 'Of a cluster: on which shards rows may lie',
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
