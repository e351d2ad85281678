/**
 * Columns of a cluster on which blocks go to any shard, by their tokens: nothing may depend on which rows lie together, but of those that
 * replace each other by key.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { computeMurmur2 } from '../../schemas/partition.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { placementsPropagationMs, placementsTable } from '../../schemas/tables/placements.ts';
import { isReplacedByKey } from '../../schemas/tables/sharding.ts';

const placeOf = (text: string): number => computeMurmur2(Buffer.from(text)) & 0x7fffffff;

/** Tells that rows of anybody lie on any shard, as an insert does of the rows of its tenants. */
const insertOnAllShards = async (columns: Columns): Promise<void> => {
  const servers = columns.listServers();
  const tuples = servers.map((_, shard) => `(0, ${shard}, '', '')`).join(', ');
  for (const server of servers)
    await server.columns.execute(
      `INSERT INTO ${placementsTable.name} (shards, shard, tenant, landed_in) VALUES ${tuples}`,
    );
  await delay(placementsPropagationMs);
};

/** The same columns. What has the same token goes to the same shard, as it must, and rows that a statement inserts go to one. */
export const spread = (columns: Columns): Columns => {
  let inserted: Promise<void> | undefined;
  return new Proxy(columns, {
    get(target, name) {
      if (name === 'insert')
        return (...[block, token, place]: Parameters<Columns['insert']>) =>
          target.insert(block, token, isReplacedByKey(block.table) ? place : placeOf(token));
      // What is asked of a place lies at none.
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
