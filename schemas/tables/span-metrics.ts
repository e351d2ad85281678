import { durationBucketSql } from './durations.ts';
import { identityDecides, tenancy } from './parts.ts';
import { defineTable, type MaterializedView } from './table.ts';

/**
 * Requests, errors and durations by the minute, per service and endpoint. Durations are a histogram with a logarithmic
 * scale: as mergeable as a sketch, at 0.2 kB a row (quantilesDD 0.5, quantilesTDigest 1.4) and a fifth of their insert cost.
 */
export const spanMetricsTable = defineTable({
  name: 'span_metrics',
  summary: 'Requests, errors and durations by minute, service and endpoint',
  retention: 'traces',
  ageColumn: 'day',
  engine: 'AggregatingMergeTree',
  columns: {
    ...tenancy,
    /** Day of reception. */
    day: 'Date',
    /** Of the spans' start. */
    minute: "DateTime('UTC')",
    service: 'LowCardinality(String)',
    /** `http.route` where the span has one, else its name. */
    endpoint: 'LowCardinality(String)',
    /** As in `spans`. 2 and 5 (server, consumer) are what a service serves, 3 and 4 what it asks of others. */
    kind: 'UInt8',
    requests: 'SimpleAggregateFunction(sum, UInt64)',
    errors: 'SimpleAggregateFunction(sum, UInt64)',
    /** Nanoseconds. */
    duration_sum: 'SimpleAggregateFunction(sum, UInt64)',
    duration_max: 'SimpleAggregateFunction(max, UInt64)',
    /** `floor(8 · log2(nanoseconds + 1))` → spans. */
    duration_buckets: 'SimpleAggregateFunction(sumMap, Map(UInt16, UInt64))',
  },
  partitionBy: 'day',
  primaryKey: ['tenant_id', 'toStartOfHour(minute)', 'service', 'endpoint', 'kind'],
  orderBy: ['tenant_id', 'toStartOfHour(minute)', 'service', 'endpoint', 'kind', 'minute', 'project_id', 'day'],
  settings: identityDecides,
});

/** Internal spans count only as roots: within a request they are steps of it, not requests. */
export const spanMetricsView: MaterializedView = {
  name: 'span_metrics_view',
  from: 'spans',
  to: 'span_metrics',
  select: `SELECT tenant_id, project_id, toDate(received_at) AS day, toDateTime(toStartOfMinute(timestamp), 'UTC') AS minute,
  service, if(attributes['http.route'] = '', name, attributes['http.route']) AS endpoint, kind,
  count() AS requests, countIf(status_code = 2) AS errors, sum(duration) AS duration_sum, max(duration) AS duration_max,
  sumMap(map(${durationBucketSql('duration')}, toUInt64(1))) AS duration_buckets
FROM spans WHERE kind != 1 OR parent_span_id = toFixedString('', 8)
GROUP BY tenant_id, project_id, day, minute, service, endpoint, kind`,
};
