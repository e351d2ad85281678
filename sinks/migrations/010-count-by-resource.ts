/**
 * Adds the activity of each resource by minute, and durations of failed requests. Both are counted from now on,
 * because a backfill by two concurrent migrations would double the sums. The view is changed in place, so that no span is missed between two
 * versions.
 */
import type { Migration } from './migration.ts';

const table = `CREATE TABLE IF NOT EXISTS resource_activity
  (
    tenant_id LowCardinality(String),
    project_id LowCardinality(String),
    day Date,
    minute DateTime('UTC'),
    service LowCardinality(String),
    resource_id UInt64,
    logs SimpleAggregateFunction(sum, UInt64),
    error_logs SimpleAggregateFunction(sum, UInt64),
    spans SimpleAggregateFunction(sum, UInt64),
    requests SimpleAggregateFunction(sum, UInt64),
    errors SimpleAggregateFunction(sum, UInt64),
    duration_sum SimpleAggregateFunction(sum, UInt64),
    duration_max SimpleAggregateFunction(max, UInt64),
    duration_buckets SimpleAggregateFunction(sumMap, Map(UInt16, UInt64)),
    error_buckets SimpleAggregateFunction(sumMap, Map(UInt16, UInt64)),
    first_seen SimpleAggregateFunction(min, DateTime64(9, 'UTC')),
    last_seen SimpleAggregateFunction(max, DateTime64(9, 'UTC'))
  )
  ENGINE = AggregatingMergeTree
  PARTITION BY day
  PRIMARY KEY (tenant_id, toStartOfHour(minute), service, resource_id)
  ORDER BY (tenant_id, toStartOfHour(minute), service, resource_id, minute, project_id, day)
  SETTINGS non_replicated_deduplication_window = 10000, allow_dimensions_outside_sorting_key = 1`;

const logActivity = `SELECT tenant_id, project_id, toDate(received_at) AS day, toDateTime(toStartOfMinute(timestamp), 'UTC') AS minute, service, resource_id,
  count() AS logs, countIf(severity_number >= 17) AS error_logs, min(timestamp) AS first_seen, max(timestamp) AS last_seen
FROM logs GROUP BY tenant_id, project_id, day, minute, service, resource_id`;

const isRequest = "(kind IN (2, 5) OR (kind IN (0, 1) AND parent_span_id = toFixedString('', 8)))";
const bucket = 'map(toUInt16(floor(log2(duration + 1) * 8)), toUInt64(1))';

const spanActivity = `SELECT tenant_id, project_id, toDate(received_at) AS day, toDateTime(toStartOfMinute(timestamp), 'UTC') AS minute, service, resource_id,
  count() AS spans, countIf(${isRequest}) AS requests, countIf(${isRequest} AND status_code = 2) AS errors,
  sumIf(duration, ${isRequest}) AS duration_sum, maxIf(duration, ${isRequest}) AS duration_max,
  sumMapIf(${bucket}, ${isRequest}) AS duration_buckets,
  sumMapIf(${bucket}, ${isRequest} AND status_code = 2) AS error_buckets, min(timestamp) AS first_seen, max(timestamp) AS last_seen
FROM spans GROUP BY tenant_id, project_id, day, minute, service, resource_id`;

const spanMetrics = `SELECT tenant_id, project_id, toDate(received_at) AS day, toDateTime(toStartOfMinute(timestamp), 'UTC') AS minute,
  service, if(attributes['http.route'] = '', name, attributes['http.route']) AS endpoint, kind,
  count() AS requests, countIf(status_code = 2) AS errors, sum(duration) AS duration_sum, max(duration) AS duration_max,
  sumMap(map(toUInt16(floor(log2(duration + 1) * 8)), toUInt64(1))) AS duration_buckets,
  sumMapIf(map(toUInt16(floor(log2(duration + 1) * 8)), toUInt64(1)), status_code = 2) AS error_buckets
FROM spans WHERE kind NOT IN (0, 1) OR parent_span_id = toFixedString('', 8)
GROUP BY tenant_id, project_id, day, minute, service, endpoint, kind`;

export const countByResource: Migration = {
  id: 10,
  name: 'count by resource',
  async up(columns) {
    await columns.execute(table);
    await columns.execute(
      'ALTER TABLE span_metrics ADD COLUMN IF NOT EXISTS error_buckets SimpleAggregateFunction(sumMap, Map(UInt16, UInt64)) AFTER duration_buckets',
    );
    await columns.execute(`ALTER TABLE span_metrics_view MODIFY QUERY ${spanMetrics}`);
    await columns.execute(
      `CREATE MATERIALIZED VIEW IF NOT EXISTS log_activity_view TO resource_activity AS ${logActivity}`,
    );
    await columns.execute(
      `CREATE MATERIALIZED VIEW IF NOT EXISTS span_activity_view TO resource_activity AS ${spanActivity}`,
    );
  },
};
