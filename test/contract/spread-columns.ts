/** Columns of a cluster on which blocks go to any shard, by their tokens: nothing may depend on which rows lie together. */
import { murmur2 } from '../../schemas/partition.ts';
import type { Columns } from '../../schemas/ports/columns.ts';

const placeOf = (text: string): number => murmur2(Buffer.from(text)) & 0x7fffffff;

/** The same columns. What has the same token goes to the same shard, as it must, and rows that a statement inserts go to one. */
export const spread = (columns: Columns): Columns =>
  new Proxy(columns, {
    get(target, name) {
      if (name === 'insert')
        return (...[block, token]: Parameters<Columns['insert']>) => target.insert(block, token, placeOf(token));
      // What is asked of a place lies at none.
      if (name === 'query')
        return (...[sql, parameters, limits]: Parameters<Columns['query']>) => {
          const { place: _, ...anywhere } = limits ?? {};
          return target.query(sql, parameters, anywhere);
        };
      if (name === 'execute')
        return (sql: string) => {
          const servers = target.each();
          return sql.startsWith('INSERT')
            ? servers[placeOf(sql) % servers.length]?.columns.execute(sql)
            : target.execute(sql);
        };
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
