/** Message keys of a tenant's telemetry, which determine its partitions. */

/**
 * Returns the key of one message: messages are distributed over the shards in rotation. A single shard needs no number.
 */
export const buildTenantKey = (tenantId: string, shards: number, sequence: number): string =>
  shards > 1 ? `${tenantId}/${sequence % shards}` : tenantId;

/** Returns all possible keys, including those from before the tenant had several shards. */
export const buildTenantKeys = (tenantId: string, shards: number): string[] => [
  tenantId,
  ...(shards > 1 ? Array.from({ length: shards }, (_, shard) => buildTenantKey(tenantId, shards, shard)) : []),
];
