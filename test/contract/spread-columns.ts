/** Columns of a cluster on which blocks go to any shard, by their tokens: nothing may depend on which rows lie together. */
import { murmur2 } from '../../schemas/partition.ts';
import type { Columns } from '../../schemas/ports/columns.ts';

/** The same columns. What has the same token goes to the same shard, as it must. */
export const spread = (columns: Columns): Columns =>
  new Proxy(columns, {
    get(target, name) {
      if (name === 'insert')
        return (...[block, token]: Parameters<Columns['insert']>) =>
          target.insert(block, token, murmur2(Buffer.from(token)) & 0x7fffffff);
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
