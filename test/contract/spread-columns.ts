/**
 * Columns of a cluster that write blocks to any shard, by their tokens: no query may depend on which rows share a
 * shard, except for rows that replace each other by key.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { computeMurmur2 } from '../../schemas/partition.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { placementsPropagationMs, placementsTable } from '../../schemas/tables/placements.ts';
import { isReplacedByKey } from '../../schemas/tables/sharding.ts';

const placeOf = (text: string): number => computeMurmur2(Buffer.from(text)) & 0x7fffffff;

/** Announces that rows of any tenant may be on any shard, as an insert does for its tenants. */
const insertOnAllShards = async (columns: Columns): Promise<void> => {
  const servers = columns.listServers();
  const tuples = servers.map((_, shard) => `(0, ${shard}, '', '')`).join(', ');
  for (const server of servers)
    await server.columns.execute(
      `INSERT INTO ${placementsTable.name} (shards, shard, tenant, landed_in) VALUES ${tuples}`,
    );
  await delay(placementsPropagationMs);
};

/** The same columns. Blocks with the same token, and the rows that a statement inserts, go to one shard. */
export const spread = (columns: Columns): Columns => {
  let inserted: Promise<void> | undefined;
  return new Proxy(columns, {
    get(target, name) {
      if (name === 'insert')
        return (...[block, token, place]: Parameters<Columns['insert']>) =>
          target.insert(block, token, isReplacedByKey(block.table) ? place : placeOf(token));
      // Queries for a place run on all shards, because a place has no fixed shard here.
      if (name === 'query')
        return (...[sql, parameters, limits]: Parameters<Columns['query']>) => {
          const { shardKey: _, ...anywhere } = limits ?? {};
          return target.query(sql, parameters, anywhere);
        };
      if (name === 'execute')
        return async (sql: string) => {
          if (!sql.startsWith('INSERT')) return target.execute(sql);
          inserted ??= insertOnAllShards(target);
          await inserted;
          const servers = target.listServers();
          return servers[placeOf(sql) % servers.length]?.columns.execute(sql);
        };
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
};
