import { byDayReceived, identityDecides, landed, nanoseconds, ordinal, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

const inOrder = ['tenant_id', 'toStartOfHour(timestamp)', 'fingerprint'] as const;

/** One row an error that happened. Rows of a group lie together within an hour. */
export const errorOccurrencesTable = defineTable({
  name: 'error_occurrences',
  summary: 'Errors that happened, one row each',
  retention: 'longest',
  columns: {
    ...tenancy,
    /** Of the exception, or of its reception where that is earlier. */
    timestamp: nanoseconds,
    fingerprint: 'LowCardinality(String)',
    /** `log` or `span`: what the plan includes and keeps of it. */
    source: 'LowCardinality(String)',
    service: 'LowCardinality(String)',
    environment: 'LowCardinality(String)',
    release: 'LowCardinality(String)',
    type: 'LowCardinality(String)',
    message: 'String CODEC(ZSTD(1))',
    stack: 'String CODEC(ZSTD(3))',
    /** Empty where nobody says. */
    handled: 'LowCardinality(String)',
    /** Empty without one. */
    user_id: 'String CODEC(ZSTD(1))',
    tags: 'Map(LowCardinality(String), String) CODEC(ZSTD(1))',
    trace_id: 'String CODEC(ZSTD(1))',
    span_id: 'String CODEC(ZSTD(1))',
    /** Of a log record; empty for a span. */
    record_id: 'String CODEC(ZSTD(1))',
    ...ordinal,
    ...landed,
  },
  partitionBy: byDayReceived,
  primaryKey: inOrder,
  orderBy: [...inOrder, 'timestamp'],
});

/** What errors there are: by fingerprint, where they happened, and when first and last. Rows merge; read with min, max and anyLast. */
export const errorGroupsTable = defineTable({
  name: 'error_groups',
  summary: 'Fingerprints of errors by service, environment and release, with first and last time',
  retention: 'longest',
  identity: 'fingerprint',
  engine: 'AggregatingMergeTree',
  columns: {
    ...tenancy,
    fingerprint: 'String',
    source: 'LowCardinality(String)',
    service: 'LowCardinality(String)',
    environment: 'LowCardinality(String)',
    release: 'LowCardinality(String)',
    type: 'SimpleAggregateFunction(anyLast, String)',
    /** Of the last occurrence. */
    message: 'SimpleAggregateFunction(anyLast, String)',
    culprit: 'SimpleAggregateFunction(anyLast, String)',
    /** JSON: pairs of name and text. The fingerprint is their hash. */
    components: 'SimpleAggregateFunction(anyLast, String)',
    first_seen: "SimpleAggregateFunction(min, DateTime64(9, 'UTC'))",
    last_seen: "SimpleAggregateFunction(max, DateTime64(9, 'UTC'))",
  },
  orderBy: ['tenant_id', 'fingerprint', 'service', 'environment', 'release', 'source', 'project_id'],
  settings: identityDecides,
});
