import { landedPosition, partitionByDayReceived } from './parts.ts';
import { defineTable } from './table.ts';

/**
 * Calls between services, databases, queues and hosts, by minute. Several rows of the same edge and minute add up:
 * always aggregate. `schemas/edges.ts` documents the columns. For quantiles use `buildQuantileSql` of `durations.ts`.
 */
export const serviceEdgesTable = defineTable({
  name: 'service_edges',
  summary: 'Calls between services, databases, queues and hosts by minute',
  retention: 'traces',
  columns: {
    tenant_id: 'LowCardinality(String)',
    /** Project of the client, or of the server if there is no client span. */
    project_id: 'LowCardinality(String)',
    /** Project of the server, or of the client if there is no server span. */
    server_project_id: 'LowCardinality(String)',
    ...landedPosition,
    /** Minute in which the calls began. */
    minute: "DateTime('UTC')",
    connection: 'LowCardinality(String)',
    client: 'LowCardinality(String)',
    client_kind: 'LowCardinality(String)',
    client_environment: 'LowCardinality(String)',
    server: 'LowCardinality(String)',
    server_kind: 'LowCardinality(String)',
    server_environment: 'LowCardinality(String)',
    system: 'LowCardinality(String)',
    address: 'LowCardinality(String)',
    via: 'LowCardinality(String)',
    requests: 'UInt64',
    errors: 'UInt64',
    /** Requests with a known duration, which the buckets count. */
    timed: 'UInt64',
    /** Nanoseconds. */
    duration_sum: 'UInt64',
    duration_max: 'UInt64',
    duration_buckets: 'Map(UInt16, UInt64)',
    server_duration_sum: 'UInt64',
    /** Reason → number of requests with only one side */
    unpaired: 'Map(LowCardinality(String), UInt64)',
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'toStartOfHour(minute)', 'server', 'client', 'minute'],
  primaryKey: ['tenant_id', 'toStartOfHour(minute)', 'server', 'client'],
});
