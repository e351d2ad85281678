import { errorSeverity } from '../records/severity.ts';
import { buildBucketSql } from './durations.ts';
import { identityKeySettings, tenancy } from './parts.ts';
import { severityNumberSql } from './search.ts';
import { isRequestSql } from './span-metrics.ts';
import { defineTable, type MaterializedView } from './table.ts';

/**
 * Activity of each resource (an instance of a service) by minute: which versions and instances were active when. Always
 * aggregate.
 */
export const resourceActivityTable = defineTable({
  name: 'resource_activity',
  summary: 'Log records, spans, requests, errors and durations by minute and resource',
  retention: 'longest',
  shardedBy: 'tenant',
  ageColumn: 'day',
  engine: 'AggregatingMergeTree',
  columns: {
    ...tenancy,
    /** Day of reception. */
    day: 'Date',
    /** Minute of the records' time. */
    minute: "DateTime('UTC')",
    service: 'LowCardinality(String)',
    resource_id: 'UInt64',
    logs: 'SimpleAggregateFunction(sum, UInt64)',
    /** Log records of severity ERROR and above, by `getSeverityNumber`. */
    error_logs: 'SimpleAggregateFunction(sum, UInt64)',
    spans: 'SimpleAggregateFunction(sum, UInt64)',
    /** Request spans (`isRequestSql`), and those with an error. */
    requests: 'SimpleAggregateFunction(sum, UInt64)',
    errors: 'SimpleAggregateFunction(sum, UInt64)',
    /** Durations of the requests, as in `span_metrics`. */
    duration_sum: 'SimpleAggregateFunction(sum, UInt64)',
    duration_max: 'SimpleAggregateFunction(max, UInt64)',
    duration_buckets: 'SimpleAggregateFunction(sumMap, Map(UInt16, UInt64))',
    error_buckets: 'SimpleAggregateFunction(sumMap, Map(UInt16, UInt64))',
    /** Time of the first and last record. */
    first_seen: "SimpleAggregateFunction(min, DateTime64(9, 'UTC'))",
    last_seen: "SimpleAggregateFunction(max, DateTime64(9, 'UTC'))",
  },
  partitionBy: 'day',
  primaryKey: ['tenant_id', 'toStartOfHour(minute)', 'service', 'resource_id'],
  orderBy: ['tenant_id', 'toStartOfHour(minute)', 'service', 'resource_id', 'minute', 'project_id', 'day'],
  settings: identityKeySettings,
});

const buildActivitySelect = (from: string, counts: string): string =>
  `SELECT tenant_id, project_id, toDate(received_at) AS day, toDateTime(toStartOfMinute(timestamp), 'UTC') AS minute, service, resource_id,
  ${counts}, min(timestamp) AS first_seen, max(timestamp) AS last_seen
FROM ${from} GROUP BY tenant_id, project_id, day, minute, service, resource_id`;

export const logActivityView: MaterializedView = {
  name: 'log_activity_view',
  from: 'logs',
  to: 'resource_activity',
  select: buildActivitySelect(
    'logs',
    `count() AS logs, countIf(${severityNumberSql} >= ${errorSeverity}) AS error_logs`,
  ),
};

export const spanActivityView: MaterializedView = {
  name: 'span_activity_view',
  from: 'spans',
  to: 'resource_activity',
  select: buildActivitySelect(
    'spans',
    `count() AS spans, countIf(${isRequestSql}) AS requests, countIf(${isRequestSql} AND status_code = 2) AS errors,
  sumIf(duration, ${isRequestSql}) AS duration_sum, maxIf(duration, ${isRequestSql}) AS duration_max,
  sumMapIf(map(${buildBucketSql('duration')}, toUInt64(1)), ${isRequestSql}) AS duration_buckets,
  sumMapIf(map(${buildBucketSql('duration')}, toUInt64(1)), ${isRequestSql} AND status_code = 2) AS error_buckets`,
  ),
};
