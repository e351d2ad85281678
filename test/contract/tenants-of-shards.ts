/** Organizations by the shard on which their telemetry lies. */
import { randomUUID } from 'node:crypto';
import { placeOfTenant, shardOfPlace } from '../../schemas/tables/lying.ts';

/** One that lies on this shard of so many, from 0 on, by the declared rule. */
export const tenantOf = (shard: number, shards: number): string => {
  for (;;) {
    const tenant = `tenant-${randomUUID()}`;
    if (shardOfPlace(placeOfTenant(tenant), shards) === shard) return tenant;
  }
};
