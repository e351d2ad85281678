/** Distribution of rows over several shards. */
import { computePartition } from '../partition.ts';
import { buildTenantKey } from '../tenant-key.ts';
import { topics } from '../topics.ts';
import { allTables, allViews } from './index.ts';
import { isMerging } from './table.ts';

/**
 * Returns the partition of a tenant's telemetry in its topics; the batches of a partition are stored completely on one shard. A
 * tenant with several shards on the bus also has other places, as does a bus with undeclared partitions:
 * `Columns.insert` records them.
 */
export const getTenantPartition = (tenantId: string): number =>
  computePartition(buildTenantKey(tenantId, 1, 0), topics.logs.partitions);

/** Returns the shard of a place, starting at 0. */
export const getShardOfPartition = (partition: number, shards: number): number => partition % shards;

const tablesByName = new Map(allTables.map((table) => [table.name, table]));

/** Returns whether a table stores a tenant's rows at the tenant's place. */
export const isShardedByTenant = (table: string): boolean => tablesByName.get(table)?.shardedBy === 'tenant';

/**
 * Returns whether later rows replace earlier rows with the same key, as states do. Then all rows of a key must stay on
 * one shard permanently: two shards would merge separately, and reads would return both rows. Rows with an offset in
 * their key are only ever repeated.
 */
export const isReplacedByKey = (table: string): boolean => {
  const { shardedBy: shardingKey, orderBy = [], ...tableFields } = tablesByName.get(table) ?? {};
  return shardingKey === undefined && isMerging(tableFields) && !orderBy.includes('offset');
};

/** Returns the tables into which sinks insert the data of a table: itself, and those from which views fill it. */
export const getSourceTables = (table: string): readonly string[] => [
  table,
  ...allViews.filter(({ to }) => to === table).flatMap(({ from }) => getSourceTables(from)),
];

const columnNames = new Set(allTables.flatMap(({ columns }) => Object.keys(columns)));
/**
 * Returns whether a table name is also a column name. For other names, each occurrence of the word may be the table.
 */
export const isColumnName = (name: string): boolean => columnNames.has(name);
export const isTable = (name: string): boolean => tablesByName.has(name);
