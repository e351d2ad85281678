/**
 * Ends a statement that looks for any one row of a tenant. A bare `LIMIT`, which one shard fulfils, makes the engine (26.7) break its
 * connections to the others; an order does not.
 */
export const anyRow = 'ORDER BY tenant_id LIMIT 1';
