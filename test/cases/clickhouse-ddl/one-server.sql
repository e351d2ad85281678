CREATE TABLE IF NOT EXISTS agent_events
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  `id` String CODEC(ZSTD(1)),
  `version` UInt16,
  `service` LowCardinality(String),
  `record_id` String CODEC(ZSTD(1)),
  `trace_id` String CODEC(ZSTD(1)),
  `span_id` String CODEC(ZSTD(1)),
  `source` LowCardinality(String),
  `kind` LowCardinality(String),
  `host` LowCardinality(String),
  `pid` UInt64 CODEC(ZSTD(1)),
  `parent_pid` UInt64 CODEC(ZSTD(1)),
  `process_id` String CODEC(ZSTD(1)),
  `parent_process_id` String CODEC(ZSTD(1)),
  `start_ms` Int64 CODEC(ZSTD(1)),
  `thread_name` LowCardinality(String),
  `program` String CODEC(ZSTD(1)),
  `command` String CODEC(ZSTD(1)),
  `folder` String CODEC(ZSTD(1)),
  `user_name` LowCardinality(String),
  `exit_code` Nullable(Int64),
  `agent_id` LowCardinality(String),
  `agent` LowCardinality(String),
  `session_id` String CODEC(ZSTD(1)),
  `conversation_id` String CODEC(ZSTD(1)),
  `turn` UInt32 CODEC(ZSTD(1)),
  `link` LowCardinality(String),
  `reason` LowCardinality(String),
  `call_id` String CODEC(ZSTD(1)),
  `path` String CODEC(ZSTD(1)),
  `path_after` String CODEC(ZSTD(1)),
  `operation` LowCardinality(String),
  `host_name` LowCardinality(String),
  `address` String CODEC(ZSTD(1)),
  `port` UInt16,
  `method` LowCardinality(String),
  `url` String CODEC(ZSTD(1)),
  `status` UInt16,
  `direction` LowCardinality(String),
  `model` LowCardinality(String),
  `response_id` String CODEC(ZSTD(1)),
  `tool_name` LowCardinality(String),
  `text` String CODEC(ZSTD(3)),
  `bytes` UInt64 CODEC(T64, ZSTD(1)),
  `count` UInt64 CODEC(T64, ZSTD(1)),
  `is_truncated` UInt8,
  `lost_bytes` UInt64 CODEC(T64, ZSTD(1)),
  `lost_events` UInt64 CODEC(T64, ZSTD(1)),
  `warning` LowCardinality(String),
  `facts` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  INDEX agent_session session_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMMDD(timestamp)
PRIMARY KEY (tenant_id, toStartOfHour(timestamp))
ORDER BY (tenant_id, toStartOfHour(timestamp), timestamp, id)
SETTINGS non_replicated_deduplication_window = 10000, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS alert_evaluations
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `rule_id` LowCardinality(String),
  `rule_version` UInt32,
  `time` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `alert_id` String CODEC(ZSTD(1)),
  `labels` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  `state` LowCardinality(String),
  `severity` LowCardinality(String),
  `value` Nullable(Float64),
  `reason` String CODEC(ZSTD(3)),
  `error` String CODEC(ZSTD(1)),
  `duration_ms` Float64,
  `late_ms` UInt32,
  `groups` UInt32,
  `firing` UInt32,
  `ordinal` UInt32 CODEC(Delta, ZSTD(1)),
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, rule_id, time, alert_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS alert_states
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `rule_id` String,
  `alert_id` String,
  `evaluated_ms` UInt64,
  `last_seen` DateTime64(3, 'UTC'),
  `labels` Map(String, String),
  `state` LowCardinality(String),
  `severity` LowCardinality(String),
  `value` Nullable(Float64),
  `reason` String,
  `error` String,
  `since_ms` UInt64,
  `started_ms` UInt64,
  `duration_ms` Float64,
  `late_ms` UInt32,
  `groups` UInt32,
  `firing` UInt32
)
ENGINE = ReplacingMergeTree(evaluated_ms)
ORDER BY (tenant_id, rule_id, alert_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS alert_transitions
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `id` String CODEC(ZSTD(1)),
  `alert_id` String CODEC(ZSTD(1)),
  `rule_id` LowCardinality(String),
  `rule_version` UInt32,
  `rule_name` LowCardinality(String),
  `time` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `from_state` LowCardinality(String),
  `to_state` LowCardinality(String),
  `severity` LowCardinality(String),
  `labels` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  `annotations` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  `started_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `ended_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `value` Nullable(Float64),
  `reason` String CODEC(ZSTD(1)),
  `is_test` Bool,
  `ordinal` UInt32 CODEC(Delta, ZSTD(1)),
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, rule_id, time, alert_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS anomalies
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `time` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `id` String,
  `revision` UInt32,
  `detector_id` LowCardinality(String),
  `detector_name` LowCardinality(String),
  `detector_labels` Map(LowCardinality(String), String),
  `signals` Array(LowCardinality(String)),
  `step_ms` UInt64,
  `series` String,
  `name` LowCardinality(String),
  `unit` LowCardinality(String),
  `labels` Map(LowCardinality(String), String),
  `sign` LowCardinality(String),
  `direction` LowCardinality(String),
  `end_ms` UInt64,
  `changed_ms` UInt64,
  `why` LowCardinality(String),
  `score` Float64,
  `peak_ms` UInt64,
  `value` Float64,
  `expected` Nullable(Float64),
  `low` Nullable(Float64),
  `high` Nullable(Float64),
  `before` Nullable(Float64)
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(time)
ORDER BY (tenant_id, time, id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS anomaly_looks
(
  `tenant_id` LowCardinality(String),
  `detector_id` String,
  `question` String,
  `revision` UInt64,
  `look_ms` UInt64,
  `last_seen` DateTime64(3, 'UTC'),
  `up_to_ms` UInt64,
  `step_ms` UInt64,
  `watched_from_ms` UInt64,
  `learns_until_ms` UInt64,
  `learnt_from_ms` UInt64,
  `series` UInt32,
  `learning` UInt32,
  `speaks_from_ms` UInt64,
  `refused` UInt32,
  `open` UInt32,
  `error` String
)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (tenant_id, detector_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS anomaly_scores
(
  `tenant_id` LowCardinality(String),
  `detector_id` LowCardinality(String),
  `series` LowCardinality(String),
  `time` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `value` Float64 CODEC(ZSTD(1)),
  `expected` Nullable(Float64) CODEC(ZSTD(1)),
  `low` Nullable(Float64) CODEC(ZSTD(1)),
  `high` Nullable(Float64) CODEC(ZSTD(1)),
  `score` Float64 CODEC(ZSTD(1)),
  `is_anomalous` UInt8
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(time)
ORDER BY (tenant_id, detector_id, series, time)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS dead_letter_marks
(
  `tenant_id` LowCardinality(String),
  `id` String,
  `outcome` LowCardinality(String),
  `marked_at` DateTime64(3, 'UTC'),
  `actor` String,
  `partition` UInt16,
  `offset` UInt64
)
ENGINE = ReplacingMergeTree
ORDER BY (tenant_id, id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS dead_letters
(
  `tenant_id` LowCardinality(String),
  `id` String,
  `project_id` LowCardinality(String),
  `key_id` LowCardinality(String),
  `signal` LowCardinality(String),
  `origin` LowCardinality(String),
  `kind` LowCardinality(String),
  `reason` LowCardinality(String),
  `message` String,
  `position` Nullable(UInt64),
  `received_at` DateTime64(3, 'UTC'),
  `source` String,
  `size` UInt64,
  `cut` Bool,
  `chunks` UInt32,
  `partition` UInt16,
  `offset` UInt64
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, received_at, id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS detection_telemetry
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1)),
  `day` DateTime('UTC'),
  `products` Array(LowCardinality(String)),
  `services` Array(LowCardinality(String)),
  `categories` Array(LowCardinality(String)),
  `knows_categories` Bool,
  `fields` Array(String) CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, day)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS emitted_metrics
(
  `tenant_id` LowCardinality(String),
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (topic, partition, offset, tenant_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS entities
(
  `tenant_id` LowCardinality(String),
  `kind` LowCardinality(String),
  `id` String,
  `name` String,
  `resource_id` UInt64,
  `first_seen` SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
  `last_seen` SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, kind, id, resource_id)
SETTINGS non_replicated_deduplication_window = 10000, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS error_groups
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `fingerprint` String,
  `source` LowCardinality(String),
  `service` LowCardinality(String),
  `environment` LowCardinality(String),
  `release` LowCardinality(String),
  `type` SimpleAggregateFunction(anyLast, String),
  `message` SimpleAggregateFunction(anyLast, String),
  `culprit` SimpleAggregateFunction(anyLast, String),
  `components` SimpleAggregateFunction(anyLast, String),
  `first_seen` SimpleAggregateFunction(min, DateTime64(9, 'UTC')),
  `last_seen` SimpleAggregateFunction(max, DateTime64(9, 'UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, fingerprint, service, environment, release, source, project_id)
SETTINGS non_replicated_deduplication_window = 10000, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS error_hours
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `hour` DateTime('UTC'),
  `received_hour` DateTime('UTC'),
  `fingerprint` LowCardinality(String),
  `source` LowCardinality(String),
  `service` LowCardinality(String),
  `environment` LowCardinality(String),
  `release` LowCardinality(String),
  `occurrences` SimpleAggregateFunction(sum, UInt64),
  `unhandled` SimpleAggregateFunction(sum, UInt64),
  `users` SimpleAggregateFunction(groupUniqArrayArray, Array(String)),
  `first_seen` SimpleAggregateFunction(min, DateTime64(9, 'UTC')),
  `last_seen` SimpleAggregateFunction(max, DateTime64(9, 'UTC'))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMMDD(received_hour)
PRIMARY KEY (tenant_id, hour, fingerprint)
ORDER BY (tenant_id, hour, fingerprint, received_hour, source, service, environment, release, project_id)
SETTINGS non_replicated_deduplication_window = 10000, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS error_occurrences
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  `fingerprint` LowCardinality(String),
  `source` LowCardinality(String),
  `service` LowCardinality(String),
  `environment` LowCardinality(String),
  `release` LowCardinality(String),
  `type` LowCardinality(String),
  `message` String CODEC(ZSTD(1)),
  `stack` String CODEC(ZSTD(3)),
  `handled` LowCardinality(String),
  `user_id` String CODEC(ZSTD(1)),
  `tags` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  `trace_id` String CODEC(ZSTD(1)),
  `span_id` String CODEC(ZSTD(1)),
  `record_id` String CODEC(ZSTD(1)),
  `ordinal` UInt32 CODEC(Delta, ZSTD(1)),
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
PRIMARY KEY (tenant_id, toStartOfHour(timestamp), fingerprint)
ORDER BY (tenant_id, toStartOfHour(timestamp), fingerprint, timestamp)
SETTINGS non_replicated_deduplication_window = 10000, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS events
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1)),
  `id` String,
  `kind` LowCardinality(String),
  `time` DateTime64(3, 'UTC'),
  `severity` LowCardinality(String),
  `title` String,
  `text` String,
  `service` LowCardinality(String),
  `environment` LowCardinality(String),
  `tags` Map(LowCardinality(String), String),
  `link` String,
  `actor_type` LowCardinality(String),
  `actor_id` String,
  `details` String
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, time, kind, id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS evidence_heads
(
  `tenant_id` LowCardinality(String),
  `size` UInt64,
  `root` String,
  `key_id` LowCardinality(String),
  `last_hash` String,
  `subtrees` String,
  `signed_at` DateTime64(3, 'UTC'),
  `signature` String,
  `partition` UInt16,
  `offset` UInt64
)
ENGINE = ReplacingMergeTree
ORDER BY (tenant_id, size, root, key_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS exemplars
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `metric` LowCardinality(String),
  `series_id` UInt64,
  `timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  `value` Float64,
  `trace_id` FixedString(16),
  `span_id` FixedString(8),
  `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  `attribute_types` LowCardinality(String),
  INDEX trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, metric, series_id, timestamp)
SETTINGS non_replicated_deduplication_window = 10000, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS fields
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `topic` LowCardinality(String),
  `hour` DateTime('UTC') CODEC(Delta, ZSTD(1)),
  `kind` LowCardinality(String),
  `key` LowCardinality(String),
  `type` LowCardinality(String),
  `records` UInt64 CODEC(T64, ZSTD(1)),
  `first_seen` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `last_seen` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `last_offset` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, topic, hour, kind, key, type)
SETTINGS non_replicated_deduplication_window = 10000, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS file_changes
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1)),
  `id` String,
  `record_id` String,
  `time` DateTime64(3, 'UTC'),
  `service` LowCardinality(String),
  `source` LowCardinality(String),
  `action` LowCardinality(String),
  `path` String CODEC(ZSTD(1)),
  `path_before` String CODEC(ZSTD(1)),
  `host` LowCardinality(String),
  `user` LowCardinality(String),
  `process` LowCardinality(String),
  `process_id` String,
  `before` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  `after` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  `changed` Array(LowCardinality(String)),
  `rule` LowCardinality(String)
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, time, host, id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS fleet_agents
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `agent_id` String,
  `part` LowCardinality(String),
  `instance_uid` String,
  `version` UInt64,
  `last_seen` DateTime64(3, 'UTC'),
  `summary` String CODEC(ZSTD(1)),
  `content` String CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (tenant_id, agent_id, part)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS histograms
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `metric` LowCardinality(String),
  `series_id` UInt64,
  `timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  `start_timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  `flags` UInt32,
  `count` UInt64,
  `sum` Nullable(Float64),
  `min` Nullable(Float64),
  `max` Nullable(Float64),
  `bounds` Array(Float64),
  `counts` Array(UInt64),
  `scale` Int32,
  `zero_count` UInt64,
  `zero_threshold` Float64,
  `positive_offset` Int32,
  `positive_counts` Array(UInt64),
  `negative_offset` Int32,
  `negative_counts` Array(UInt64),
  `reset_hint` UInt8,
  `exact_counts` Array(Float64),
  `positive_spans` Array(Int32),
  `negative_spans` Array(Int32)
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, metric, series_id, timestamp)
SETTINGS non_replicated_deduplication_window = 10000, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS landings
(
  `tenant_id` LowCardinality(String),
  `landed_in` LowCardinality(String),
  `newest` SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, landed_in)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS llm_calls
(
  `tenant_id` LowCardinality(String),
  `timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  `trace_id` String CODEC(ZSTD(1)),
  `span_id` String CODEC(ZSTD(1)),
  `project_id` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `kind` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `service` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `environment` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `operation` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `provider` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `model` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `request_model` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `response_id` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `conversation_id` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `agent` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `prompt` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `prompt_version` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `user_id` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `duration_ns` SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1)),
  `first_token_ns` SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1)),
  `is_streamed` SimpleAggregateFunction(max, UInt8),
  `is_failed` SimpleAggregateFunction(max, UInt8),
  `error_type` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `finish_reasons` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `input` SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1)),
  `cache_read` SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1)),
  `cache_write` SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1)),
  `cache_write_1h` SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1)),
  `input_audio` SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1)),
  `input_image` SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1)),
  `output` SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1)),
  `reasoning` SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1)),
  `output_audio` SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1)),
  `output_image` SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1)),
  `usage_problem` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `interpretation` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `cost_text` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `cost` SimpleAggregateFunction(max, Decimal(38, 18)) MATERIALIZED toDecimal128OrZero(cost_text, 18) CODEC(ZSTD(1)),
  `currency` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `price_problem` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `reported_cost` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `convention` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `scope_name` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `scope_version` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `attribute_json` SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  `nested` SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1)),
  `duplicate` SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1)),
  `received_at` SimpleAggregateFunction(max, DateTime64(3, 'UTC')) CODEC(Delta, ZSTD(1))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMMDD(timestamp)
PRIMARY KEY (tenant_id, toStartOfHour(timestamp))
ORDER BY (tenant_id, toStartOfHour(timestamp), timestamp, trace_id, span_id)
SETTINGS non_replicated_deduplication_window = 10000, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS llm_hour_changes
(
  `tenant_id` LowCardinality(String),
  `hour` DateTime('UTC'),
  `changes` SimpleAggregateFunction(sum, UInt64),
  `changed_at` SimpleAggregateFunction(max, DateTime('UTC'))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMMDD(hour)
ORDER BY (tenant_id, hour)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS llm_hours
(
  `tenant_id` LowCardinality(String),
  `hour` DateTime('UTC'),
  `changes` UInt64,
  `price_hash` UInt64,
  `summed_at` DateTime64(3, 'UTC'),
  `is_complete` UInt8,
  `project_id` Array(LowCardinality(String)) CODEC(ZSTD(1)),
  `provider` Array(LowCardinality(String)) CODEC(ZSTD(1)),
  `model` Array(LowCardinality(String)) CODEC(ZSTD(1)),
  `is_failed` Array(UInt8) CODEC(ZSTD(1)),
  `error_type` Array(LowCardinality(String)) CODEC(ZSTD(1)),
  `usage_problem` Array(LowCardinality(String)) CODEC(ZSTD(1)),
  `currency` Array(LowCardinality(String)) CODEC(ZSTD(1)),
  `price_problem` Array(LowCardinality(String)) CODEC(ZSTD(1)),
  `calls` Array(UInt64) CODEC(T64, ZSTD(1)),
  `input` Array(UInt64) CODEC(T64, ZSTD(1)),
  `cache_read` Array(UInt64) CODEC(T64, ZSTD(1)),
  `cache_write` Array(UInt64) CODEC(T64, ZSTD(1)),
  `cache_write_1h` Array(UInt64) CODEC(T64, ZSTD(1)),
  `input_audio` Array(UInt64) CODEC(T64, ZSTD(1)),
  `input_image` Array(UInt64) CODEC(T64, ZSTD(1)),
  `output` Array(UInt64) CODEC(T64, ZSTD(1)),
  `reasoning` Array(UInt64) CODEC(T64, ZSTD(1)),
  `output_audio` Array(UInt64) CODEC(T64, ZSTD(1)),
  `output_image` Array(UInt64) CODEC(T64, ZSTD(1)),
  `cost` Array(Decimal(38, 18)) CODEC(ZSTD(1)),
  `reported_amount` Array(Decimal(38, 18)) CODEC(ZSTD(1)),
  `reporting` Array(UInt64) CODEC(T64, ZSTD(1)),
  `last_seen` Array(Int64) CODEC(ZSTD(1)),
  `duration_bucket` Array(Array(UInt16)) CODEC(ZSTD(1)),
  `duration_count` Array(Array(UInt64)) CODEC(T64, ZSTD(1)),
  `containers` Array(Tuple(trace_id String, project_id String, provider String, model String, is_failed UInt8, error_type String, usage_problem String)) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(summed_at)
PARTITION BY toYYYYMMDD(hour)
ORDER BY (tenant_id, hour)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 64;

CREATE TABLE IF NOT EXISTS llm_prices
(
  `tenant_id` LowCardinality(String),
  `price_id` String,
  `version` UInt64,
  `rates` String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (tenant_id, price_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS log_pattern_counts
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `minute` DateTime('UTC') CODEC(Delta, ZSTD(1)),
  `service` LowCardinality(String),
  `pattern_id` LowCardinality(String),
  `severity` LowCardinality(String),
  `count` UInt64 CODEC(T64, ZSTD(1)),
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
PRIMARY KEY (tenant_id, toStartOfHour(minute), service, pattern_id)
ORDER BY (tenant_id, toStartOfHour(minute), service, pattern_id, minute)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS log_patterns
(
  `tenant_id` LowCardinality(String),
  `service` LowCardinality(String),
  `structure` Int32,
  `pattern_id` String,
  `places` Array(Int32),
  `shard` UInt16,
  `template` SimpleAggregateFunction(anyLast, String),
  `sample` SimpleAggregateFunction(anyLast, String),
  `parameters` SimpleAggregateFunction(anyLast, String),
  `first_seen` SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
  `last_seen` SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, service, structure, pattern_id, places, shard)
SETTINGS non_replicated_deduplication_window = 10000, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS logs
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `ordinal` UInt32 CODEC(Delta, ZSTD(1)),
  `timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  `observed_timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  `service` LowCardinality(String),
  `resource_id` UInt64,
  `scope_name` LowCardinality(String),
  `scope_version` LowCardinality(String),
  `scope_attributes` LowCardinality(String),
  `scope_dropped_attributes` UInt32,
  `scope_schema_url` LowCardinality(String),
  `severity_number` UInt8,
  `severity_text` LowCardinality(String),
  `event_name` LowCardinality(String),
  `body` String CODEC(ZSTD(1)),
  `body_words` String DEFAULT concat(if(empty(if(isValidASCII(body) AND NOT (position(body, '\x1b') > 0 OR positionCaseInsensitive(body, '\\u001b') > 0), '', body)), '', ' '), replaceRegexpAll(replaceRegexpAll(replaceAll(replaceAll(replaceAll(replaceAll(lowerUTF8(normalizeUTF8NFKC(toValidUTF8(replaceRegexpAll(if(isValidASCII(body) AND NOT (position(body, '\x1b') > 0 OR positionCaseInsensitive(body, '\\u001b') > 0), '', body), '(?:\\x1b|\\\\u001[bB])(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\x07\\x1b\\\\]*(?:\\x07|\\x1b\\\\|\\\\u0007|\\\\u001[bB]\\\\\\\\?)|[ -/]*[0-~])?', '')))), 'ς', 'σ'), 'ı', 'i'), 'ß', 'ss'), '̇', ''), '[\\x{80}-\\x{a9}\\x{ab}-\\x{b1}\\x{b6}-\\x{b7}\\x{bb}-\\x{bb}\\x{bf}-\\x{bf}\\x{d7}-\\x{d7}\\x{f7}-\\x{f7}\\x{55a}-\\x{55f}\\x{589}-\\x{58a}\\x{5be}-\\x{5be}\\x{5c0}-\\x{5c0}\\x{5c3}-\\x{5c3}\\x{5c6}-\\x{5c6}\\x{5f3}-\\x{5f4}\\x{600}-\\x{60f}\\x{61b}-\\x{61f}\\x{66a}-\\x{66d}\\x{6d4}-\\x{6d4}\\x{700}-\\x{70d}\\x{964}-\\x{965}\\x{970}-\\x{970}\\x{f04}-\\x{f14}\\x{f3a}-\\x{f3d}\\x{104a}-\\x{104f}\\x{10fb}-\\x{10fb}\\x{1360}-\\x{1368}\\x{1680}-\\x{1680}\\x{17d4}-\\x{17da}\\x{1800}-\\x{180f}\\x{2000}-\\x{200b}\\x{200e}-\\x{206f}\\x{2e00}-\\x{2e7f}\\x{3000}-\\x{3004}\\x{3008}-\\x{3020}\\x{3030}-\\x{3030}\\x{303d}-\\x{303f}\\x{30a0}-\\x{30a0}\\x{30fb}-\\x{30fb}\\x{fd3e}-\\x{fd3f}\\x{fe00}-\\x{fe6f}\\x{feff}-\\x{feff}\\x{fff9}-\\x{fffd}\\x{e0000}-\\x{e0fff}]', ' '), '[\\x{e00}-\\x{109f}\\x{1100}-\\x{11ff}\\x{1780}-\\x{17ff}\\x{1950}-\\x{19ff}\\x{1a20}-\\x{1aaf}\\x{1b00}-\\x{1b7f}\\x{20a0}-\\x{20cf}\\x{2190}-\\x{2bff}\\x{2e80}-\\x{9fff}\\x{a960}-\\x{a97f}\\x{a980}-\\x{a9ff}\\x{aa60}-\\x{aadf}\\x{ac00}-\\x{d7ff}\\x{e000}-\\x{faff}\\x{1aff0}-\\x{1b2ff}\\x{1f000}-\\x{1fbff}\\x{20000}-\\x{3ffff}\\x{f0000}-\\x{10ffff}]', ' \\0 ')) CODEC(ZSTD(1)),
  `body_type` LowCardinality(String),
  `body_values` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  `body_value_types` LowCardinality(String),
  `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  `attribute_types` LowCardinality(String),
  `dropped_attributes` UInt32,
  `trace_id` FixedString(16),
  `span_id` FixedString(8),
  `flags` UInt32,
  INDEX text_words tokens(if(empty(body_words), lower(body), body_words)) TYPE bloom_filter(0.001) GRANULARITY 1,
  INDEX fresh_text_words if(empty(body_words), lower(body), body_words) TYPE tokenbf_v1(32768, 1, 0) GRANULARITY 1,
  INDEX attribute_pairs arrayMap((k, v) -> cityHash64(k, v), mapKeys(attributes), mapValues(attributes)) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX body_value_pairs arrayMap((k, v) -> cityHash64(k, v), mapKeys(body_values), mapValues(body_values)) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX trace_of_many trace_id TYPE bloom_filter(0.01) GRANULARITY 128,
  INDEX trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX resource_range resource_id TYPE minmax GRANULARITY 1,
  INDEX time_range timestamp TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
PRIMARY KEY (tenant_id, toStartOfTenMinutes(timestamp), service, resource_id)
ORDER BY (tenant_id, toStartOfTenMinutes(timestamp), service, resource_id)
SETTINGS non_replicated_deduplication_window = 10000, merge_selector_base = 16, min_level_for_wide_part = 1, exclude_materialize_skip_indexes_on_merge = 'fresh_text_words';

CREATE TABLE IF NOT EXISTS metric_metadata
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `metric` LowCardinality(String),
  `source` LowCardinality(String),
  `kind` LowCardinality(String),
  `monotonic` Bool,
  `unit` LowCardinality(String),
  `description` String,
  `last_seen` SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, metric, project_id, source, kind, monotonic, unit, description)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS notification_deliveries
(
  `tenant_id` LowCardinality(String),
  `delivery_id` String CODEC(ZSTD(1)),
  `channel_id` LowCardinality(String),
  `channel_type` LowCardinality(String),
  `receiver` LowCardinality(String),
  `group_key` String CODEC(ZSTD(1)),
  `status` LowCardinality(String),
  `reason` LowCardinality(String),
  `firing` UInt32,
  `resolved` UInt32,
  `is_test` UInt8,
  `queued_at` DateTime64(3, 'UTC'),
  `attempt` UInt16,
  `at` DateTime64(3, 'UTC'),
  `state` LowCardinality(String),
  `status_code` UInt16,
  `answer` String CODEC(ZSTD(1)),
  `latency_ms` UInt32,
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
PRIMARY KEY (tenant_id, channel_id, toStartOfHour(queued_at))
ORDER BY (tenant_id, channel_id, toStartOfHour(queued_at), queued_at, delivery_id, attempt)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS package_changes
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1)),
  `id` String,
  `record_id` String,
  `time` DateTime64(3, 'UTC'),
  `host` LowCardinality(String),
  `manager` LowCardinality(String),
  `action` LowCardinality(String),
  `package` LowCardinality(String),
  `version` String
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, time, host, id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS placements
(
  `shards` UInt16,
  `shard` UInt16,
  `tenant` String,
  `landed_in` LowCardinality(String)
)
ENGINE = ReplacingMergeTree
ORDER BY (shards, shard, tenant, landed_in)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS resource_activity
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `day` Date,
  `minute` DateTime('UTC'),
  `service` LowCardinality(String),
  `resource_id` UInt64,
  `logs` SimpleAggregateFunction(sum, UInt64),
  `error_logs` SimpleAggregateFunction(sum, UInt64),
  `spans` SimpleAggregateFunction(sum, UInt64),
  `requests` SimpleAggregateFunction(sum, UInt64),
  `errors` SimpleAggregateFunction(sum, UInt64),
  `duration_sum` SimpleAggregateFunction(sum, UInt64),
  `duration_max` SimpleAggregateFunction(max, UInt64),
  `duration_buckets` SimpleAggregateFunction(sumMap, Map(UInt16, UInt64)),
  `error_buckets` SimpleAggregateFunction(sumMap, Map(UInt16, UInt64)),
  `first_seen` SimpleAggregateFunction(min, DateTime64(9, 'UTC')),
  `last_seen` SimpleAggregateFunction(max, DateTime64(9, 'UTC'))
)
ENGINE = AggregatingMergeTree
PARTITION BY day
PRIMARY KEY (tenant_id, toStartOfHour(minute), service, resource_id)
ORDER BY (tenant_id, toStartOfHour(minute), service, resource_id, minute, project_id, day)
SETTINGS non_replicated_deduplication_window = 10000, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS resources
(
  `tenant_id` LowCardinality(String),
  `resource_id` UInt64,
  `service` LowCardinality(String),
  `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  `attribute_types` LowCardinality(String),
  `schema_url` LowCardinality(String),
  `dropped_attributes` UInt32,
  `first_seen` SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
  `last_seen` SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
  `nested_keys` SimpleAggregateFunction(max, Array(String)),
  `nested_values` SimpleAggregateFunction(max, Array(String)),
  `nested_types` SimpleAggregateFunction(max, String)
)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, resource_id)
SETTINGS non_replicated_deduplication_window = 10000, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS rum_events
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  `service` LowCardinality(String),
  `environment` LowCardinality(String),
  `release` LowCardinality(String),
  `kind` LowCardinality(String),
  `name` LowCardinality(String),
  `session_id` String CODEC(ZSTD(1)),
  `view_id` String CODEC(ZSTD(1)),
  `page` LowCardinality(String),
  `route` LowCardinality(String),
  `url` String CODEC(ZSTD(1)),
  `referrer` String CODEC(ZSTD(1)),
  `user_id` String CODEC(ZSTD(1)),
  `value` Nullable(Float64) CODEC(ZSTD(1)),
  `rating` LowCardinality(String),
  `navigation_type` LowCardinality(String),
  `event_id` String CODEC(ZSTD(1)),
  `element` String CODEC(ZSTD(1)),
  `element_text` String CODEC(ZSTD(1)),
  `duration_ms` Nullable(Float64) CODEC(ZSTD(1)),
  `phases` Map(LowCardinality(String), Float64) CODEC(ZSTD(1)),
  `target` String CODEC(ZSTD(1)),
  `resource_type` LowCardinality(String),
  `host` LowCardinality(String),
  `party` LowCardinality(String),
  `bytes` Nullable(UInt64) CODEC(ZSTD(1)),
  `cached` LowCardinality(String),
  `blocking` LowCardinality(String),
  `handled` LowCardinality(String),
  `method` LowCardinality(String),
  `status` UInt16,
  `message` String CODEC(ZSTD(1)),
  `error_type` LowCardinality(String),
  `stack` String CODEC(ZSTD(3)),
  `fingerprint` LowCardinality(String),
  `trace_id` String CODEC(ZSTD(1)),
  `span_id` String CODEC(ZSTD(1)),
  `record_id` String CODEC(ZSTD(1)),
  `device` LowCardinality(String),
  `browser` LowCardinality(String),
  `browser_version` LowCardinality(String),
  `os` LowCardinality(String),
  `os_version` LowCardinality(String),
  `country` LowCardinality(String),
  `sdk` LowCardinality(String),
  `sdk_version` LowCardinality(String),
  `sampling` Nullable(Float64),
  `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  `ordinal` UInt32 CODEC(Delta, ZSTD(1)),
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1)),
  INDEX session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX rum_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
PRIMARY KEY (tenant_id, kind, toStartOfHour(timestamp), service)
ORDER BY (tenant_id, kind, toStartOfHour(timestamp), service, timestamp)
SETTINGS non_replicated_deduplication_window = 10000, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS rum_replays
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `application` LowCardinality(String),
  `session_id` String CODEC(ZSTD(1)),
  `tab` String CODEC(ZSTD(1)),
  `first` UInt32,
  `last` UInt32,
  `from_ms` UInt64,
  `to_ms` UInt64,
  `has_snapshot` Bool,
  `masked` UInt32,
  `data` String CODEC(ZSTD(1)),
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, session_id, tab, first)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS rum_sessions
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `hour` DateTime('UTC'),
  `received_day` DateTime('UTC'),
  `service` LowCardinality(String),
  `session_id` String,
  `environment` LowCardinality(String),
  `release` LowCardinality(String),
  `first_seen` SimpleAggregateFunction(min, DateTime64(9, 'UTC')),
  `last_seen` SimpleAggregateFunction(max, DateTime64(9, 'UTC')),
  `events` SimpleAggregateFunction(sum, UInt64),
  `views` SimpleAggregateFunction(sum, UInt64),
  `actions` SimpleAggregateFunction(sum, UInt64),
  `errors` SimpleAggregateFunction(sum, UInt64),
  `frustrations` SimpleAggregateFunction(sum, UInt64),
  `resources` SimpleAggregateFunction(sum, UInt64),
  `ends` SimpleAggregateFunction(sum, UInt64),
  `user_id` SimpleAggregateFunction(max, String),
  `device` SimpleAggregateFunction(max, String),
  `browser` SimpleAggregateFunction(max, String),
  `browser_version` SimpleAggregateFunction(max, String),
  `os` SimpleAggregateFunction(max, String),
  `os_version` SimpleAggregateFunction(max, String),
  `country` SimpleAggregateFunction(max, String),
  `sdk` SimpleAggregateFunction(max, String),
  `sdk_version` SimpleAggregateFunction(max, String),
  `sampling` SimpleAggregateFunction(max, Nullable(Float64)),
  `pages` SimpleAggregateFunction(groupUniqArrayArray, Array(String)),
  `entry` SimpleAggregateFunction(min, String),
  `exit` SimpleAggregateFunction(max, String)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMMDD(received_day)
PRIMARY KEY (tenant_id, hour, service)
ORDER BY (tenant_id, hour, service, session_id, received_day, environment, release, project_id)
SETTINGS non_replicated_deduplication_window = 10000, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS rum_vitals
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `received_day` DateTime('UTC'),
  `day` DateTime('UTC'),
  `vital_key` UInt64,
  `version` UInt64 CODEC(Delta, ZSTD(1)),
  `timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  `name` LowCardinality(String),
  `value` Float64 CODEC(ZSTD(1)),
  `service` LowCardinality(String),
  `environment` LowCardinality(String),
  `release` LowCardinality(String),
  `page` LowCardinality(String),
  `device` LowCardinality(String),
  `browser` LowCardinality(String),
  `os` LowCardinality(String),
  `country` LowCardinality(String)
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMMDD(day)
ORDER BY (tenant_id, day, vital_key)
SETTINGS non_replicated_deduplication_window = 10000, allow_dimensions_outside_sorting_key = 1, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS runtime_threats
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1)),
  `id` String,
  `group_id` String,
  `record_id` String CODEC(ZSTD(1)),
  `time` DateTime64(3, 'UTC'),
  `source` LowCardinality(String),
  `rule` LowCardinality(String),
  `severity` LowCardinality(String),
  `message` String CODEC(ZSTD(1)),
  `service` LowCardinality(String),
  `host` LowCardinality(String),
  `workload` LowCardinality(String),
  `namespace` LowCardinality(String),
  `pod` LowCardinality(String),
  `image` LowCardinality(String),
  `program` LowCardinality(String),
  `command_line` String CODEC(ZSTD(1)),
  `target` String CODEC(ZSTD(1)),
  `target_pattern` String CODEC(ZSTD(1)),
  `user` LowCardinality(String),
  `action` LowCardinality(String),
  `techniques` Array(LowCardinality(String))
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, group_id, time, id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS samples
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `metric` LowCardinality(String),
  `series_id` UInt64,
  `timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  `start_timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  `flags` UInt32,
  `value` Float64 CODEC(Gorilla, ZSTD(1)),
  `integer` Int64
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, metric, series_id, timestamp)
SETTINGS non_replicated_deduplication_window = 10000, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS schema_migrations
(
  `id` UInt32,
  `name` String,
  `applied_at` DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS secret_findings
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1)),
  `id` String,
  `finding_id` String,
  `time` DateTime64(3, 'UTC'),
  `signal` LowCardinality(String),
  `record_id` String CODEC(ZSTD(1)),
  `trace_id` String CODEC(ZSTD(1)),
  `span_id` String CODEC(ZSTD(1)),
  `service` LowCardinality(String),
  `field` LowCardinality(String),
  `rule` LowCardinality(String),
  `fingerprint` String,
  `preview` String,
  `key_hash` String,
  `occurrences` UInt32,
  `is_redacted` Bool
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, finding_id, time, id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS series
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `metric` LowCardinality(String),
  `series_id` UInt64,
  `kind` SimpleAggregateFunction(min, LowCardinality(String)),
  `temporality` SimpleAggregateFunction(max, UInt8),
  `monotonic` SimpleAggregateFunction(max, Bool),
  `unit` SimpleAggregateFunction(max, LowCardinality(String)),
  `description` SimpleAggregateFunction(max, LowCardinality(String)),
  `metadata` LowCardinality(String),
  `source` LowCardinality(String),
  `service` LowCardinality(String),
  `resource_id` UInt64,
  `scope_name` LowCardinality(String),
  `scope_version` LowCardinality(String),
  `scope_attributes` LowCardinality(String),
  `scope_dropped_attributes` UInt32,
  `scope_schema_url` LowCardinality(String),
  `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  `attribute_types` LowCardinality(String),
  `first_seen` SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
  `last_seen` SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, metric, series_id)
SETTINGS non_replicated_deduplication_window = 10000, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS service_edges
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `server_project_id` LowCardinality(String),
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1)),
  `minute` DateTime('UTC'),
  `connection` LowCardinality(String),
  `client` LowCardinality(String),
  `client_kind` LowCardinality(String),
  `client_environment` LowCardinality(String),
  `server` LowCardinality(String),
  `server_kind` LowCardinality(String),
  `server_environment` LowCardinality(String),
  `system` LowCardinality(String),
  `address` LowCardinality(String),
  `via` LowCardinality(String),
  `requests` UInt64,
  `errors` UInt64,
  `timed` UInt64,
  `duration_sum` UInt64,
  `duration_max` UInt64,
  `duration_buckets` Map(UInt16, UInt64),
  `server_duration_sum` UInt64,
  `unpaired` Map(LowCardinality(String), UInt64)
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
PRIMARY KEY (tenant_id, toStartOfHour(minute), server, client)
ORDER BY (tenant_id, toStartOfHour(minute), server, client, minute)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS signals
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1)),
  `id` String,
  `kind` LowCardinality(String),
  `time` DateTime64(3, 'UTC'),
  `rule_id` LowCardinality(String),
  `rule_version` UInt32,
  `rule_title` LowCardinality(String),
  `severity` LowCardinality(String),
  `risk_score` Float64,
  `events` String CODEC(ZSTD(1)),
  `event_count` UInt32,
  `entities` Array(String) CODEC(ZSTD(1)),
  `tactics` Array(LowCardinality(String)),
  `techniques` Array(LowCardinality(String)),
  `group_by` Map(LowCardinality(String), String),
  `suppressed_by` LowCardinality(String)
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, time, rule_id, id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS slo_day_changes
(
  `tenant_id` LowCardinality(String),
  `slo_id` LowCardinality(String),
  `series` LowCardinality(String),
  `day` Date,
  `changes` SimpleAggregateFunction(sum, UInt64),
  `changed_at` SimpleAggregateFunction(max, DateTime('UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, slo_id, series, day)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS slo_days
(
  `tenant_id` LowCardinality(String),
  `slo_id` LowCardinality(String),
  `series` LowCardinality(String),
  `day` Date,
  `changes` UInt64,
  `summed_at` DateTime64(3, 'UTC'),
  `good` UInt64,
  `total` UInt64,
  `slices` UInt64,
  `counted_for` LowCardinality(String),
  `reached` UInt64,
  `shares` UInt256,
  `good_by_total` Map(UInt64, UInt64),
  `good_billionths` UInt32,
  `total_billionths` UInt32
)
ENGINE = ReplacingMergeTree(summed_at)
ORDER BY (tenant_id, slo_id, series, day)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS slo_looks
(
  `tenant_id` LowCardinality(String),
  `slo_id` String,
  `series` String,
  `look_ms` UInt64,
  `last_seen` DateTime64(3, 'UTC'),
  `from_ms` UInt64,
  `up_to_ms` UInt64,
  `settled_up_to_ms` UInt64,
  `error` String,
  `objective` String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(look_ms)
ORDER BY (tenant_id, slo_id, series)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS slo_slices
(
  `tenant_id` LowCardinality(String),
  `slo_id` LowCardinality(String),
  `series` LowCardinality(String),
  `begin` DateTime('UTC') CODEC(Delta, LZ4),
  `good` UInt64 CODEC(T64, LZ4),
  `total` UInt64 CODEC(T64, LZ4),
  `look_ms` UInt64 CODEC(Delta, LZ4),
  `good_billionths` UInt32 CODEC(T64, LZ4),
  `total_billionths` UInt32 CODEC(T64, LZ4)
)
ENGINE = ReplacingMergeTree(look_ms)
PARTITION BY toYYYYMM(begin)
ORDER BY (tenant_id, slo_id, series, begin)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;

CREATE TABLE IF NOT EXISTS span_metrics
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `day` Date,
  `minute` DateTime('UTC'),
  `service` LowCardinality(String),
  `endpoint` LowCardinality(String),
  `kind` UInt8,
  `requests` SimpleAggregateFunction(sum, UInt64),
  `errors` SimpleAggregateFunction(sum, UInt64),
  `duration_sum` SimpleAggregateFunction(sum, UInt64),
  `duration_max` SimpleAggregateFunction(max, UInt64),
  `duration_buckets` SimpleAggregateFunction(sumMap, Map(UInt16, UInt64)),
  `error_buckets` SimpleAggregateFunction(sumMap, Map(UInt16, UInt64))
)
ENGINE = AggregatingMergeTree
PARTITION BY day
PRIMARY KEY (tenant_id, toStartOfHour(minute), service, endpoint, kind)
ORDER BY (tenant_id, toStartOfHour(minute), service, endpoint, kind, minute, project_id, day)
SETTINGS non_replicated_deduplication_window = 10000, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS spans
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `ordinal` UInt32 CODEC(Delta, ZSTD(1)),
  `timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  `duration` UInt64 CODEC(T64, ZSTD(1)),
  `service` LowCardinality(String),
  `resource_id` UInt64,
  `scope_name` LowCardinality(String),
  `scope_version` LowCardinality(String),
  `scope_attributes` LowCardinality(String),
  `scope_dropped_attributes` UInt32,
  `scope_schema_url` LowCardinality(String),
  `trace_id` FixedString(16),
  `span_id` FixedString(8),
  `parent_span_id` FixedString(8),
  `trace_state` String,
  `flags` UInt32,
  `name` LowCardinality(String),
  `kind` UInt8,
  `status_code` UInt8,
  `status_message` String,
  `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  `attribute_types` LowCardinality(String),
  `dropped_attributes` UInt32,
  `event_timestamps` Array(DateTime64(9, 'UTC')),
  `event_names` Array(LowCardinality(String)),
  `event_attributes` Array(Map(LowCardinality(String), String)),
  `event_attribute_types` Array(LowCardinality(String)),
  `event_dropped_attributes` Array(UInt32),
  `dropped_events` UInt32,
  `link_trace_ids` Array(FixedString(16)),
  `link_span_ids` Array(FixedString(8)),
  `link_trace_states` Array(String),
  `link_attributes` Array(Map(LowCardinality(String), String)),
  `link_attribute_types` Array(LowCardinality(String)),
  `link_dropped_attributes` Array(UInt32),
  `link_flags` Array(UInt32),
  `dropped_links` UInt32,
  INDEX attribute_pairs arrayMap((k, v) -> cityHash64(k, v), mapKeys(attributes), mapValues(attributes)) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX trace_of_many trace_id TYPE bloom_filter(0.01) GRANULARITY 128,
  INDEX trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX duration_range duration TYPE minmax GRANULARITY 1,
  INDEX resource_range resource_id TYPE minmax GRANULARITY 1,
  INDEX time_range timestamp TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
PRIMARY KEY (tenant_id, toStartOfTenMinutes(timestamp), service, name)
ORDER BY (tenant_id, toStartOfTenMinutes(timestamp), service, name)
SETTINGS non_replicated_deduplication_window = 10000, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS summaries
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `metric` LowCardinality(String),
  `series_id` UInt64,
  `timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  `start_timestamp` DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  `flags` UInt32,
  `count` UInt64,
  `sum` Float64,
  `quantiles` Array(Float64),
  `quantile_values` Array(Float64)
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, metric, series_id, timestamp)
SETTINGS non_replicated_deduplication_window = 10000, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS synthetic_latest
(
  `tenant_id` LowCardinality(String),
  `check_id` String,
  `location` String,
  `due_ms` UInt64,
  `last_seen` DateTime64(3, 'UTC'),
  `started_ms` UInt64,
  `outcome` LowCardinality(String),
  `message` String
)
ENGINE = ReplacingMergeTree(due_ms)
ORDER BY (tenant_id, check_id, location)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS synthetic_runs
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `check_id` LowCardinality(String),
  `location` LowCardinality(String),
  `due` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `is_manual` UInt8,
  `earliness` UInt64 CODEC(ZSTD(1)),
  `started` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `outcome` LowCardinality(String),
  `attempts` UInt8,
  `duration_ms` Float64 CODEC(ZSTD(1)),
  `phases` String CODEC(ZSTD(1)),
  `steps` String CODEC(ZSTD(1)),
  `message` String CODEC(ZSTD(1)),
  `trace_id` String CODEC(ZSTD(1)),
  `check_name` LowCardinality(String),
  `check_type` LowCardinality(String),
  `labels` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(earliness)
PARTITION BY toYYYYMM(due)
ORDER BY (tenant_id, check_id, due, location, is_manual)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS synthetic_states
(
  `tenant_id` LowCardinality(String),
  `check_id` LowCardinality(String),
  `location` LowCardinality(String),
  `at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `state` LowCardinality(String)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (tenant_id, check_id, location, at)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS synthetic_verdicts
(
  `tenant_id` LowCardinality(String),
  `check_id` LowCardinality(String),
  `judged` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `state` LowCardinality(String),
  `is_maintenance` UInt8,
  `says` String CODEC(ZSTD(1)),
  `locations` String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(judged)
ORDER BY (tenant_id, check_id, judged)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS threat_matches
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `topic` LowCardinality(String),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitter` LowCardinality(String),
  `emitted_offset` UInt64 CODEC(Delta, ZSTD(1)),
  `emitted_part` UInt64 CODEC(Delta, ZSTD(1)),
  `id` String,
  `type` LowCardinality(String),
  `value` String CODEC(ZSTD(1)),
  `source` LowCardinality(String),
  `score` UInt8,
  `field` LowCardinality(String),
  `observed` String CODEC(ZSTD(1)),
  `record_id` String CODEC(ZSTD(1)),
  `time` DateTime64(3, 'UTC'),
  `last_time` DateTime64(3, 'UTC'),
  `count` UInt64,
  `service` LowCardinality(String),
  `host` String CODEC(ZSTD(1)),
  `user` String CODEC(ZSTD(1)),
  `retro_hunt` Bool
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, time, id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS usage
(
  `tenant_id` LowCardinality(String),
  `hour` DateTime('UTC') CODEC(Delta, ZSTD(1)),
  `signal` LowCardinality(String),
  `project_id` LowCardinality(String),
  `key_id` LowCardinality(String),
  `outcome` LowCardinality(String),
  `reason` LowCardinality(String),
  `service` LowCardinality(String),
  `partition` UInt16,
  `offset` UInt64 CODEC(Delta, ZSTD(1)),
  `id` String CODEC(ZSTD(1)),
  `requests` UInt64 CODEC(T64, ZSTD(1)),
  `records` UInt64 CODEC(T64, ZSTD(1)),
  `bytes` UInt64 CODEC(T64, ZSTD(1)),
  `landed_records` UInt64 CODEC(T64, ZSTD(1)),
  `landed_bytes` UInt64 CODEC(T64, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(hour)
PRIMARY KEY (tenant_id, hour, signal)
ORDER BY (tenant_id, hour, signal, project_id, key_id, outcome, reason, service, partition, offset, id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS vulnerability_findings
(
  `tenant_id` LowCardinality(String),
  `project_id` LowCardinality(String),
  `hour` DateTime('UTC') CODEC(Delta, ZSTD(1)),
  `finding_id` String,
  `time` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  `vulnerability` LowCardinality(String),
  `aliases` Array(LowCardinality(String)),
  `title` String CODEC(ZSTD(1)),
  `package` LowCardinality(String),
  `version` LowCardinality(String),
  `ecosystem` LowCardinality(String),
  `target_id` LowCardinality(String),
  `target` LowCardinality(String),
  `target_kind` LowCardinality(String),
  `location` LowCardinality(String),
  `scanners` Array(LowCardinality(String)),
  `status` LowCardinality(String),
  `state` LowCardinality(String),
  `severity` LowCardinality(String),
  `priority` LowCardinality(String),
  `score` Float64,
  `exploited` LowCardinality(String),
  `running` LowCardinality(String),
  `services` Array(LowCardinality(String)),
  `fixed_versions` Array(LowCardinality(String)),
  `vex` LowCardinality(String),
  `first_time` DateTime64(3, 'UTC'),
  `received_at` DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(time)
PARTITION BY toYYYYMM(hour)
ORDER BY (tenant_id, hour, finding_id)
SETTINGS non_replicated_deduplication_window = 10000;
