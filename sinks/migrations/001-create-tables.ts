/** The first form of the tables, as it was released: what a table became since is in later migrations. */
import type { Migration } from './migration.ts';

const tables: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS logs
  (
    tenant_id LowCardinality(String),
    project_id LowCardinality(String),
    received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    partition UInt16,
    offset UInt64 CODEC(Delta, ZSTD(1)),
    ordinal UInt32 CODEC(Delta, ZSTD(1)),
    timestamp DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    observed_timestamp DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String),
    resource_id UInt64,
    scope_name LowCardinality(String),
    scope_version LowCardinality(String),
    severity_number UInt8,
    severity_text LowCardinality(String),
    event_name LowCardinality(String),
    body String CODEC(ZSTD(1)),
    body_type LowCardinality(String),
    attributes Map(LowCardinality(String), String),
    attribute_types LowCardinality(String),
    dropped_attributes UInt32,
    trace_id FixedString(16),
    span_id FixedString(8),
    flags UInt32
  )
  ENGINE = MergeTree
  PARTITION BY toYYYYMMDD(received_at)
  PRIMARY KEY (tenant_id, toStartOfTenMinutes(timestamp), service, resource_id)
  ORDER BY (tenant_id, toStartOfTenMinutes(timestamp), service, resource_id, timestamp)
  SETTINGS non_replicated_deduplication_window = 10000`,
  `CREATE TABLE IF NOT EXISTS spans
  (
    tenant_id LowCardinality(String),
    project_id LowCardinality(String),
    received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    partition UInt16,
    offset UInt64 CODEC(Delta, ZSTD(1)),
    ordinal UInt32 CODEC(Delta, ZSTD(1)),
    timestamp DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    duration UInt64 CODEC(T64, ZSTD(1)),
    service LowCardinality(String),
    resource_id UInt64,
    scope_name LowCardinality(String),
    scope_version LowCardinality(String),
    trace_id FixedString(16),
    span_id FixedString(8),
    parent_span_id FixedString(8),
    trace_state String,
    flags UInt32,
    name LowCardinality(String),
    kind UInt8,
    status_code UInt8,
    status_message String,
    attributes Map(LowCardinality(String), String),
    attribute_types LowCardinality(String),
    dropped_attributes UInt32,
    event_timestamps Array(DateTime64(9, 'UTC')),
    event_names Array(LowCardinality(String)),
    event_attributes Array(Map(LowCardinality(String), String)),
    event_attribute_types Array(LowCardinality(String)),
    dropped_events UInt32,
    link_trace_ids Array(FixedString(16)),
    link_span_ids Array(FixedString(8)),
    link_trace_states Array(String),
    link_attributes Array(Map(LowCardinality(String), String)),
    link_attribute_types Array(LowCardinality(String)),
    dropped_links UInt32
  )
  ENGINE = MergeTree
  PARTITION BY toYYYYMMDD(received_at)
  PRIMARY KEY (tenant_id, toStartOfTenMinutes(timestamp), service, name)
  ORDER BY (tenant_id, toStartOfTenMinutes(timestamp), service, name, timestamp)
  SETTINGS non_replicated_deduplication_window = 10000`,
  `CREATE TABLE IF NOT EXISTS series
  (
    tenant_id LowCardinality(String),
    project_id LowCardinality(String),
    metric LowCardinality(String),
    series_id UInt64,
    kind LowCardinality(String),
    temporality UInt8,
    monotonic Bool,
    unit LowCardinality(String),
    description LowCardinality(String),
    source LowCardinality(String),
    service LowCardinality(String),
    resource_id UInt64,
    scope_name LowCardinality(String),
    scope_version LowCardinality(String),
    attributes Map(LowCardinality(String), String),
    attribute_types LowCardinality(String),
    first_seen SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
    last_seen SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
  )
  ENGINE = AggregatingMergeTree
  ORDER BY (tenant_id, metric, series_id)
  SETTINGS non_replicated_deduplication_window = 10000, allow_dimensions_outside_sorting_key = 1`,
  `CREATE TABLE IF NOT EXISTS samples
  (
    tenant_id LowCardinality(String),
    project_id LowCardinality(String),
    received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    partition UInt16,
    offset UInt64 CODEC(Delta, ZSTD(1)),
    metric LowCardinality(String),
    series_id UInt64,
    timestamp DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    start_timestamp DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    flags UInt32,
    value Float64 CODEC(Gorilla, ZSTD(1))
  )
  ENGINE = MergeTree
  PARTITION BY toYYYYMMDD(received_at)
  ORDER BY (tenant_id, metric, series_id, timestamp)
  SETTINGS non_replicated_deduplication_window = 10000`,
  `CREATE TABLE IF NOT EXISTS histograms
  (
    tenant_id LowCardinality(String),
    project_id LowCardinality(String),
    received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    partition UInt16,
    offset UInt64 CODEC(Delta, ZSTD(1)),
    metric LowCardinality(String),
    series_id UInt64,
    timestamp DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    start_timestamp DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    flags UInt32,
    count UInt64,
    sum Nullable(Float64),
    min Nullable(Float64),
    max Nullable(Float64),
    bounds Array(Float64),
    counts Array(UInt64),
    scale Int32,
    zero_count UInt64,
    zero_threshold Float64,
    positive_offset Int32,
    positive_counts Array(UInt64),
    negative_offset Int32,
    negative_counts Array(UInt64)
  )
  ENGINE = MergeTree
  PARTITION BY toYYYYMMDD(received_at)
  ORDER BY (tenant_id, metric, series_id, timestamp)
  SETTINGS non_replicated_deduplication_window = 10000`,
  `CREATE TABLE IF NOT EXISTS summaries
  (
    tenant_id LowCardinality(String),
    project_id LowCardinality(String),
    received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    partition UInt16,
    offset UInt64 CODEC(Delta, ZSTD(1)),
    metric LowCardinality(String),
    series_id UInt64,
    timestamp DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    start_timestamp DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    flags UInt32,
    count UInt64,
    sum Float64,
    quantiles Array(Float64),
    quantile_values Array(Float64)
  )
  ENGINE = MergeTree
  PARTITION BY toYYYYMMDD(received_at)
  ORDER BY (tenant_id, metric, series_id, timestamp)
  SETTINGS non_replicated_deduplication_window = 10000`,
  `CREATE TABLE IF NOT EXISTS exemplars
  (
    tenant_id LowCardinality(String),
    project_id LowCardinality(String),
    received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    partition UInt16,
    offset UInt64 CODEC(Delta, ZSTD(1)),
    metric LowCardinality(String),
    series_id UInt64,
    timestamp DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    value Float64,
    trace_id FixedString(16),
    span_id FixedString(8),
    attributes Map(LowCardinality(String), String),
    attribute_types LowCardinality(String)
  )
  ENGINE = MergeTree
  PARTITION BY toYYYYMMDD(received_at)
  ORDER BY (tenant_id, metric, series_id, timestamp)
  SETTINGS non_replicated_deduplication_window = 10000`,
  `CREATE TABLE IF NOT EXISTS resources
  (
    tenant_id LowCardinality(String),
    resource_id UInt64,
    service LowCardinality(String),
    attributes Map(LowCardinality(String), String),
    attribute_types LowCardinality(String),
    schema_url LowCardinality(String),
    first_seen SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
    last_seen SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
  )
  ENGINE = AggregatingMergeTree
  ORDER BY (tenant_id, resource_id)
  SETTINGS non_replicated_deduplication_window = 10000, allow_dimensions_outside_sorting_key = 1`,
  `CREATE TABLE IF NOT EXISTS dead_letters
  (
    tenant_id LowCardinality(String),
    id String,
    project_id LowCardinality(String),
    key_id LowCardinality(String),
    signal LowCardinality(String),
    origin LowCardinality(String),
    kind LowCardinality(String),
    reason LowCardinality(String),
    message String,
    position Nullable(UInt64),
    received_at DateTime64(3, 'UTC'),
    source String,
    size UInt64,
    cut Bool,
    chunks UInt32,
    partition UInt16,
    offset UInt64
  )
  ENGINE = ReplacingMergeTree
  PARTITION BY toYYYYMMDD(received_at)
  ORDER BY (tenant_id, received_at, id)
  SETTINGS non_replicated_deduplication_window = 10000`,
  `CREATE TABLE IF NOT EXISTS dead_letter_marks
  (
    tenant_id LowCardinality(String),
    id String,
    outcome LowCardinality(String),
    marked_at DateTime64(3, 'UTC'),
    actor String,
    partition UInt16,
    offset UInt64
  )
  ENGINE = ReplacingMergeTree
  ORDER BY (tenant_id, id)
  SETTINGS non_replicated_deduplication_window = 10000`,
];

export const createTables: Migration = {
  id: 1,
  name: 'create tables',
  async up(columns) {
    for (const table of tables) await columns.execute(table);
  },
};
