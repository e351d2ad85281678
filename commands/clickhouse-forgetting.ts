/** Informs all servers that a ClickHouse shard has no rows, so that it can be removed from the cluster. */
import { PermanentError } from '../schemas/errors.ts';
import type { Columns } from '../schemas/ports/columns.ts';
import { quoteString } from '../schemas/tables/literal.ts';
import { emptyShardMarker, placementsTable } from '../schemas/tables/placements.ts';
import { reportShards } from './clickhouse-shards.ts';

/** Marks a shard as empty. The shard number starts at 1. */
export const markShardEmpty = (columns: Columns, shard: number): Promise<void> =>
  columns.execute(
    `INSERT INTO ${placementsTable.name} (shards, shard, tenant, landed_in) SELECT 0, ${shard - 1}, '', ${quoteString(emptyShardMarker)}`,
  );

/**
 * Discards the rows of a shard that is permanently lost and has been removed from the cluster. Reads of all shards then
 * continue without them.
 */
export const forgetShard = async (
  columns: Columns,
  { cluster, shard, printLine }: { cluster: string | undefined; shard: number; printLine: (line: string) => void },
): Promise<void> => {
  const { shards } = await reportShards(columns, cluster);
  const unavailableShard = shards.find(({ isReachable }) => !isReachable);
  if (unavailableShard !== undefined)
    throw new PermanentError('not-ready', `${unavailableShard.server}: ${unavailableShard.problems.join(', ')}`);
  if (shards.some(({ knownShards }) => knownShards >= shard))
    throw new PermanentError(
      'not-ready',
      `shard ${shard} is in the cluster: remove it from remote_servers of all servers first, or run oiq clickhouse empty ${shard} to preserve its rows`,
    );
  await markShardEmpty(columns, shard);
  printLine(`the rows of shard ${shard} are discarded: queries over all shards return results without them`);
};
