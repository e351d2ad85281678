/**
 * The end of a statement that needs any one row of a tenant. If one shard satisfies a `LIMIT` without an order, the
 * engine (26.7) breaks its connections to the other shards. The `ORDER BY` prevents that.
 */
export const anyRowClause = 'ORDER BY tenant_id LIMIT 1';
