/** Organizations by the shard on which their telemetry lies. */
import { randomUUID } from 'node:crypto';
import { getShardOfPartition, getTenantPartition } from '../../schemas/tables/sharding.ts';

const isOn = (tenant: string, shard: number, shards: number): boolean =>
  getShardOfPartition(getTenantPartition(tenant), shards) === shard;

const someTenant = (matchesTenant: (tenant: string) => boolean): string => {
  for (;;) {
    const tenant = `tenant-${randomUUID()}`;
    if (matchesTenant(tenant)) return tenant;
  }
};

/** One that lies on this shard of so many, from 0 on, by the declared rule. */
export const tenantOf = (shard: number, shards: number): string => someTenant((tenant) => isOn(tenant, shard, shards));

/** One that lies on this shard of so many, and on another of another number of them. */
export const tenantWith = (shard: number, shards: number, then: { readonly of: number; readonly on: number }): string =>
  someTenant((tenant) => isOn(tenant, shard, shards) && isOn(tenant, then.on, then.of));
