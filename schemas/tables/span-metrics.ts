import { buildBucketSql } from './durations.ts';
import { identityKeySettings, tenancy } from './parts.ts';
import { defineTable, type MaterializedView } from './table.ts';

/**
 * Requests, errors and durations by minute, service and endpoint. Durations are a logarithmic histogram: as mergeable
 * as a sketch, at 0.2 kB per row (quantilesDD 0.5, quantilesTDigest 1.4) and a fifth of their insert cost.
 */
export const spanMetricsTable = defineTable({
  name: 'span_metrics',
  summary: 'Requests, errors and durations by minute, service and endpoint',
  retention: 'traces',
  shardedBy: 'tenant',
  ageColumn: 'day',
  engine: 'AggregatingMergeTree',
  columns: {
    ...tenancy,
    /** Day of reception. */
    day: 'Date',
    /** Minute of the spans' start. */
    minute: "DateTime('UTC')",
    service: 'LowCardinality(String)',
    /** `http.route` if the span has it, otherwise its name. */
    endpoint: 'LowCardinality(String)',
    /**
     * As in `spans`. Requests have one of `requestKinds`; 3 and 4 (client, producer) are calls by a service to others.
     */
    kind: 'UInt8',
    requests: 'SimpleAggregateFunction(sum, UInt64)',
    errors: 'SimpleAggregateFunction(sum, UInt64)',
    /** Nanoseconds. */
    duration_sum: 'SimpleAggregateFunction(sum, UInt64)',
    duration_max: 'SimpleAggregateFunction(max, UInt64)',
    /** `floor(8 · log2(nanoseconds + 1))` → number of spans */
    duration_buckets: 'SimpleAggregateFunction(sumMap, Map(UInt16, UInt64))',
    /**
     * Spans with an error by duration bucket: a failed request satisfies nobody, however fast. Empty for rows of former
     * versions.
     */
    error_buckets: 'SimpleAggregateFunction(sumMap, Map(UInt16, UInt64))',
  },
  partitionBy: 'day',
  primaryKey: ['tenant_id', 'toStartOfHour(minute)', 'service', 'endpoint', 'kind'],
  orderBy: ['tenant_id', 'toStartOfHour(minute)', 'service', 'endpoint', 'kind', 'minute', 'project_id', 'day'],
  settings: identityKeySettings,
});

/**
 * Kinds of spans that are requests to a service: all server and consumer spans, and root spans of the kinds unspecified
 * and internal.
 */
export const requestKinds = [0, 1, 2, 5] as const;

/**
 * SQL of the same condition for `spans`: internal spans within a request are steps of it. OpenTelemetry treats
 * unspecified as internal.
 */
export const isRequestSql = "(kind IN (2, 5) OR (kind IN (0, 1) AND parent_span_id = toFixedString('', 8)))";

/** Returns the SELECT that computes rows of `span_metrics` from the spans that match `condition`. */
export const buildSpanMetricsSelect = (condition: string): string =>
  `SELECT tenant_id, project_id, toDate(received_at) AS day, toDateTime(toStartOfMinute(timestamp), 'UTC') AS minute,
  service, if(attributes['http.route'] = '', name, attributes['http.route']) AS endpoint, kind,
  count() AS requests, countIf(status_code = 2) AS errors, sum(duration) AS duration_sum, max(duration) AS duration_max,
  sumMap(map(${buildBucketSql('duration')}, toUInt64(1))) AS duration_buckets,
  sumMapIf(map(${buildBucketSql('duration')}, toUInt64(1)), status_code = 2) AS error_buckets
FROM spans WHERE ${condition}
GROUP BY tenant_id, project_id, day, minute, service, endpoint, kind`;

/** Internal and unspecified spans count only as roots. */
export const spanMetricsView: MaterializedView = {
  name: 'span_metrics_view',
  from: 'spans',
  to: 'span_metrics',
  select: buildSpanMetricsSelect("kind NOT IN (0, 1) OR parent_span_id = toFixedString('', 8)"),
};
