/**
 * Ends a statement that needs any one row of a tenant. A bare `LIMIT` that one shard satisfies makes the engine (26.7)
 * break its connections to the other shards. An order prevents that.
 */
export const anyRowClause = 'ORDER BY tenant_id LIMIT 1';
