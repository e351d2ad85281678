/** Tenants by the shard that stores their telemetry. */
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

/** A tenant on the given shard (from 0) of the given number of shards, by the declared rule. */
export const tenantOf = (shard: number, shards: number): string => someTenant((tenant) => isOn(tenant, shard, shards));

/** A tenant on the given shard of one number of shards, and on another shard of another number. */
export const tenantWith = (shard: number, shards: number, then: { readonly of: number; readonly on: number }): string =>
  someTenant((tenant) => isOn(tenant, shard, shards) && isOn(tenant, then.on, then.of));
