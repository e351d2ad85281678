import { byDayReceived, landed } from './parts.ts';
import { defineTable } from './table.ts';

/**
 * Calls between services, databases, queues and hosts, by minute. Rows of one edge and minute are several, and add up: always
 * aggregate. What the columns mean is in `schemas/edges.ts`, quantiles are `durationQuantile` of `durations.ts`.
 */
export const serviceEdgesTable = defineTable({
  name: 'service_edges',
  summary: 'Calls between services, databases, queues and hosts by minute',
  retention: 'traces',
  columns: {
    tenant_id: 'LowCardinality(String)',
    /** The client's project; the server's where no client span came. */
    project_id: 'LowCardinality(String)',
    /** The server's project; the client's where no server span came. */
    server_project_id: 'LowCardinality(String)',
    ...landed,
    /** Of the calls' beginning. */
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
    /** Requests whose duration is known: those of the buckets. */
    timed: 'UInt64',
    /** Nanoseconds. */
    duration_sum: 'UInt64',
    duration_max: 'UInt64',
    duration_buckets: 'Map(UInt16, UInt64)',
    server_duration_sum: 'UInt64',
    /** Reason → requests of which one side alone came. */
    unpaired: 'Map(LowCardinality(String), UInt64)',
  },
  partitionBy: byDayReceived,
  orderBy: ['tenant_id', 'toStartOfHour(minute)', 'server', 'client', 'minute'],
  primaryKey: ['tenant_id', 'toStartOfHour(minute)', 'server', 'client'],
});
