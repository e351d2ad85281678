/** The message keys of a tenant's telemetry, which decide its partitions. */

/** The key of one message: messages go round the shards in turn. One shard needs no number. */
export const tenantKey = (tenantId: string, shards: number, sequence: number): string =>
  shards > 1 ? `${tenantId}/${sequence % shards}` : tenantId;

/** All keys that there may be, also from before the tenant had several shards. */
export const tenantKeys = (tenantId: string, shards: number): string[] => [
  tenantId,
  ...(shards > 1 ? Array.from({ length: shards }, (_, shard) => tenantKey(tenantId, shards, shard)) : []),
];
