import {
  attributes,
  frequentInsertSettings,
  identityKeySettings,
  landedPosition,
  nanosecondType,
  origin,
  partitionByDayReceived,
  scope,
  tenancy,
} from './parts.ts';
import { traceIndex } from './search.ts';
import { defineTable, type MaterializedView } from './table.ts';

/** Identifies a point's series within a tenant, and leads every sorting key of the metric tables. */
const seriesKey = { metric: 'LowCardinality(String)', series_id: 'UInt64' } as const;

/**
 * Interval of the rows of `series`: a row is written for each interval, by point time, in which the series has points.
 * A series last seen up to one interval before a range may have points in the range.
 */
export const seriesRowIntervalMs = 3_600_000;

/** Type of a text that may be unknown at first: a known text persists, in whatever order rows merge. */
const persistentText = 'SimpleAggregateFunction(max, LowCardinality(String))';

/**
 * Every distinct time series, once. `series_id` is 64 bits of a hash of metric name, kind, unit, temporality, resource,
 * scope and the sorted labels. PromQL selectors resolve in this table and read points by ID.
 */
export const seriesTable = defineTable({
  name: 'series',
  summary: 'Time series, with labels, first and last time',
  retention: 'metrics',
  shardedBy: 'tenant',
  identity: 'series_id',
  engine: 'AggregatingMergeTree',
  columns: {
    ...tenancy,
    ...seriesKey,
    /**
     * `gauge`, `sum`, `histogram`, `exponential_histogram`, `summary`; for remote-write the type from the metadata, or
     * else `unknown`, which sorts last, so that a known type persists.
     */
    kind: 'SimpleAggregateFunction(min, LowCardinality(String))',
    /** OTLP temporality: 0 unspecified, 1 delta, 2 cumulative. */
    temporality: 'SimpleAggregateFunction(max, UInt8)',
    monotonic: 'SimpleAggregateFunction(max, Bool)',
    unit: persistentText,
    /** One of the received descriptions: the last one is in `metric_metadata`. */
    description: persistentText,
    /** OTLP metadata, as JSON sorted by key; empty if absent. */
    metadata: 'LowCardinality(String)',
    /** `otlp` or `prometheus`. */
    source: 'LowCardinality(String)',
    service: 'LowCardinality(String)',
    /** 0 for remote-write, whose labels identify the source. */
    resource_id: 'UInt64',
    ...scope,
    /** OTLP data point attributes, or Prometheus labels without `__name__`. */
    ...attributes,
    first_seen: "SimpleAggregateFunction(min, DateTime64(3, 'UTC'))",
    last_seen: "SimpleAggregateFunction(max, DateTime64(3, 'UTC'))",
  },
  orderBy: ['tenant_id', 'metric', 'series_id'],
  settings: identityKeySettings,
});

/**
 * Metric metadata from senders: a row for each distinct metadata, with the time of the last reception. Remote-write 1.0
 * sends it separately from samples, under the name of the family. All other metadata arrives with series, from which a
 * view extracts it.
 */
export const metricMetadataTable = defineTable({
  name: 'metric_metadata',
  summary: 'Type, unit and description of metrics, with the time of the last reception',
  retention: 'metrics',
  shardedBy: 'tenant',
  ageColumn: 'last_seen',
  engine: 'AggregatingMergeTree',
  columns: {
    ...tenancy,
    metric: 'LowCardinality(String)',
    source: 'LowCardinality(String)',
    kind: 'LowCardinality(String)',
    monotonic: 'Bool',
    unit: 'LowCardinality(String)',
    description: 'String',
    last_seen: "SimpleAggregateFunction(max, DateTime64(3, 'UTC'))",
  },
  orderBy: ['tenant_id', 'metric', 'project_id', 'source', 'kind', 'monotonic', 'unit', 'description'],
});

export const metricMetadataView: MaterializedView = {
  name: 'metric_metadata_view',
  from: 'series',
  to: 'metric_metadata',
  select: `SELECT tenant_id, project_id, metric, source, kind, monotonic, unit, description, max(series.last_seen) AS last_seen
FROM series WHERE kind != 'unknown' OR description != ''
GROUP BY tenant_id, project_id, metric, source, kind, monotonic, unit, description`,
};

const pointColumns = {
  ...tenancy,
  ...origin,
  ...seriesKey,
  timestamp: nanosecondType,
  /** Epoch 0 if the sender specified none. */
  start_timestamp: nanosecondType,
  /** OTLP data point flags; 1: no recorded value. */
  flags: 'UInt32',
} as const;
const pointOrder = ['tenant_id', 'metric', 'series_id', 'timestamp'] as const;

/** One row per number: gauges, sums, remote-write samples. NaN payloads (staleness) are preserved bit for bit. */
export const samplesTable = defineTable({
  name: 'samples',
  summary: 'Number data points and remote-write samples',
  retention: 'metrics',
  shardedBy: 'tenant',
  columns: {
    ...pointColumns,
    value: 'Float64 CODEC(Gorilla, ZSTD(1))',
    /** The value again if it is an integer that a double cannot represent, otherwise 0. */
    integer: 'Int64',
  },
  partitionBy: partitionByDayReceived,
  orderBy: pointOrder,
  settings: frequentInsertSettings,
});

/** Explicit, exponential and Prometheus's native histograms. The series' kind determines which fields apply. */
export const histogramsTable = defineTable({
  name: 'histograms',
  summary: 'Histogram data points, explicit and exponential',
  retention: 'metrics',
  shardedBy: 'tenant',
  columns: {
    ...pointColumns,
    count: 'UInt64',
    sum: 'Nullable(Float64)',
    min: 'Nullable(Float64)',
    max: 'Nullable(Float64)',
    bounds: 'Array(Float64)',
    counts: 'Array(UInt64)',
    scale: 'Int32',
    zero_count: 'UInt64',
    zero_threshold: 'Float64',
    positive_offset: 'Int32',
    positive_counts: 'Array(UInt64)',
    negative_offset: 'Int32',
    negative_counts: 'Array(UInt64)',
    /**
     * Reset hint of remote-write: 1 the counter was reset before this point, 2 it was not, 3 a gauge; 0 if the sender
     * specified none.
     */
    reset_hint: 'UInt8',
    /**
     * Fractional counts of remote-write's float histograms: the count, the zero count, then those of `counts`,
     * `positive_counts` and `negative_counts`, which contain the nearest integers. Empty if these are exact.
     */
    exact_counts: 'Array(Float64)',
    /**
     * Buckets that remote-write sent, as its spans (offset and length alternating): other buckets are zeros that fill
     * gaps. Those of custom bounds are in `positive_spans`. Empty for OTLP.
     */
    positive_spans: 'Array(Int32)',
    negative_spans: 'Array(Int32)',
  },
  partitionBy: partitionByDayReceived,
  orderBy: pointOrder,
  settings: frequentInsertSettings,
});

export const summariesTable = defineTable({
  name: 'summaries',
  summary: 'Summary data points',
  retention: 'metrics',
  shardedBy: 'tenant',
  columns: {
    ...pointColumns,
    count: 'UInt64',
    sum: 'Float64',
    quantiles: 'Array(Float64)',
    quantile_values: 'Array(Float64)',
  },
  partitionBy: partitionByDayReceived,
  orderBy: pointOrder,
  settings: frequentInsertSettings,
});

export const exemplarsTable = defineTable({
  name: 'exemplars',
  summary: 'Exemplars of data points',
  retention: 'metrics',
  shardedBy: 'tenant',
  columns: {
    ...tenancy,
    ...origin,
    ...seriesKey,
    timestamp: nanosecondType,
    value: 'Float64',
    trace_id: 'FixedString(16)',
    span_id: 'FixedString(8)',
    ...attributes,
  },
  partitionBy: partitionByDayReceived,
  orderBy: pointOrder,
  indexes: traceIndex,
  settings: frequentInsertSettings,
});

/**
 * A row for each landed metrics message that a rule emitted, so that a message published again after a crash is
 * stored once. This is a separate table, because messages of senders have no emitter positions. Rows of one message merge.
 */
export const emittedMetricsTable = defineTable({
  name: 'emitted_metrics',
  summary: 'Stored messages of recorded series',
  retention: 'metrics',
  shardedBy: 'tenant',
  engine: 'ReplacingMergeTree',
  columns: { tenant_id: tenancy.tenant_id, ...landedPosition },
  partitionBy: partitionByDayReceived,
  orderBy: ['topic', 'partition', 'offset', 'tenant_id'],
});
