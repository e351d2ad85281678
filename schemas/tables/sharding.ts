/** Where rows lie when the tables are on several shards. */
import { partitionOf } from '../partition.ts';
import { tenantKey } from '../tenant-key.ts';
import { topics } from '../topics.ts';
import { allTables, allViews } from './index.ts';
import { isMerging } from './table.ts';

/**
 * The place of a tenant's telemetry: the partition of its topics, whose batches land whole on one shard. A tenant of several shards on
 * the bus, and one on a bus with other partitions than declared, lies at other places too: `Columns.insert` remembers which.
 */
export const placeOfTenant = (tenantId: string): number =>
  partitionOf(tenantKey(tenantId, 1, 0), topics.logs.partitions);

/** The shard of a place, from 0 on. */
export const shardOfPlace = (place: number, shards: number): number => place % shards;

const byName = new Map(allTables.map((table) => [table.name, table]));

/** Whether rows of a tenant lie at its place in this table. */
export const isShardedByTenant = (table: string): boolean => byName.get(table)?.liesBy === 'tenant';

/**
 * Whether what lands later takes the place of what landed before under one key, as states do. Rows of one key lie together for ever then: where
 * they lay on two shards, each would merge its own, and both be read. What an offset is part of the key of is only ever told again.
 */
export const isReplacedByKey = (table: string): boolean => {
  const { liesBy: shardingKey, orderBy = [], ...declared } = byName.get(table) ?? {};
  return shardingKey === undefined && isMerging(declared) && !orderBy.includes('offset');
};

/** The tables into which sinks insert what is in a table: itself, and those from which views fill it. */
export const filledFrom = (table: string): readonly string[] => [
  table,
  ...allViews.filter(({ to }) => to === table).flatMap(({ from }) => filledFrom(from)),
];

const columnNames = new Set(allTables.flatMap(({ columns }) => Object.keys(columns)));
/** Tables that are no column's name: the word alone, wherever it stands, may be the table. */
export const isColumnToo = (name: string): boolean => columnNames.has(name);
export const isTable = (name: string): boolean => byName.has(name);
