import {
  frequentInsertSettings,
  identityKeySettings,
  landedPosition,
  nanosecondType,
  ordinal,
  partitionByDayReceived,
  tenancy,
} from './parts.ts';
import { defineTable, type MaterializedView } from './table.ts';

const sortingKey = ['tenant_id', 'toStartOfHour(timestamp)', 'fingerprint'] as const;

/** One row per error occurrence. Rows of a group are adjacent within an hour. */
export const errorOccurrencesTable = defineTable({
  name: 'error_occurrences',
  summary: 'Error occurrences, one row each',
  retention: 'longest',
  columns: {
    ...tenancy,
    /** Time of the exception, or of its reception if that is earlier. */
    timestamp: nanosecondType,
    fingerprint: 'LowCardinality(String)',
    /** `log` or `span`: determines the entitlement and the retention of the plan. */
    source: 'LowCardinality(String)',
    service: 'LowCardinality(String)',
    environment: 'LowCardinality(String)',
    release: 'LowCardinality(String)',
    type: 'LowCardinality(String)',
    message: 'String CODEC(ZSTD(1))',
    stack: 'String CODEC(ZSTD(3))',
    /** Empty if unknown. */
    handled: 'LowCardinality(String)',
    /** Empty if absent. */
    user_id: 'String CODEC(ZSTD(1))',
    tags: 'Map(LowCardinality(String), String) CODEC(ZSTD(1))',
    trace_id: 'String CODEC(ZSTD(1))',
    span_id: 'String CODEC(ZSTD(1))',
    /** ID of the log record; empty for a span. */
    record_id: 'String CODEC(ZSTD(1))',
    ...ordinal,
    ...landedPosition,
  },
  partitionBy: partitionByDayReceived,
  primaryKey: sortingKey,
  orderBy: [...sortingKey, 'timestamp'],
  settings: frequentInsertSettings,
});

/** Error groups: by fingerprint, location, and first and last time. Rows merge; read with min, max and anyLast. */
export const errorGroupsTable = defineTable({
  name: 'error_groups',
  summary: 'Error fingerprints by service, environment and release, with first and last time',
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
    /** Message of the last occurrence. */
    message: 'SimpleAggregateFunction(anyLast, String)',
    culprit: 'SimpleAggregateFunction(anyLast, String)',
    /** JSON pairs of name and text. The fingerprint is their hash. */
    components: 'SimpleAggregateFunction(anyLast, String)',
    first_seen: "SimpleAggregateFunction(min, DateTime64(9, 'UTC'))",
    last_seen: "SimpleAggregateFunction(max, DateTime64(9, 'UTC'))",
  },
  orderBy: ['tenant_id', 'fingerprint', 'service', 'environment', 'release', 'source', 'project_id'],
  settings: identityKeySettings,
});

/**
 * Errors by hour of occurrence and hour of reception, so that a list can exclude errors that arrived later. A view
 * fills the table from its creation on. The first hour of reception, and all hours before, are incomplete.
 */
export const errorHoursTable = defineTable({
  name: 'error_hours',
  summary: 'Errors by hour, fingerprint, service, environment and release',
  retention: 'longest',
  ageColumn: 'received_hour',
  engine: 'AggregatingMergeTree',
  columns: {
    ...tenancy,
    hour: "DateTime('UTC')",
    received_hour: "DateTime('UTC')",
    fingerprint: 'LowCardinality(String)',
    source: 'LowCardinality(String)',
    service: 'LowCardinality(String)',
    environment: 'LowCardinality(String)',
    release: 'LowCardinality(String)',
    occurrences: 'SimpleAggregateFunction(sum, UInt64)',
    /** Errors that are reported as unhandled. */
    unhandled: 'SimpleAggregateFunction(sum, UInt64)',
    /** Affected users, if reported. */
    users: 'SimpleAggregateFunction(groupUniqArrayArray, Array(String))',
    first_seen: "SimpleAggregateFunction(min, DateTime64(9, 'UTC'))",
    last_seen: "SimpleAggregateFunction(max, DateTime64(9, 'UTC'))",
  },
  partitionBy: 'toYYYYMMDD(received_hour)',
  primaryKey: ['tenant_id', 'hour', 'fingerprint'],
  orderBy: [
    'tenant_id',
    'hour',
    'fingerprint',
    'received_hour',
    'source',
    'service',
    'environment',
    'release',
    'project_id',
  ],
  settings: identityKeySettings,
});

export const errorHoursView: MaterializedView = {
  name: 'error_hours_view',
  from: 'error_occurrences',
  to: 'error_hours',
  select: `SELECT tenant_id, project_id, toDateTime(toStartOfHour(timestamp), 'UTC') AS hour, toDateTime(toStartOfHour(received_at), 'UTC') AS received_hour,
  fingerprint, source, service, environment, release, count() AS occurrences, countIf(handled = 'false') AS unhandled,
  groupUniqArrayIf(user_id, user_id != '') AS users, min(timestamp) AS first_seen, max(timestamp) AS last_seen
FROM error_occurrences GROUP BY tenant_id, project_id, hour, received_hour, fingerprint, source, service, environment, release`,
};
