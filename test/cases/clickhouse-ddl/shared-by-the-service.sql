CREATE TABLE IF NOT EXISTS agent_events (…)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMMDD(timestamp)
PRIMARY KEY (tenant_id, toStartOfHour(timestamp))
ORDER BY (tenant_id, toStartOfHour(timestamp), timestamp, id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS alert_evaluations (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, rule_id, time, alert_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS alert_states (…)
ENGINE = ReplacingMergeTree(evaluated_ms)
ORDER BY (tenant_id, rule_id, alert_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS alert_transitions (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, rule_id, time, alert_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS anomalies (…)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(time)
ORDER BY (tenant_id, time, id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS anomaly_looks (…)
ENGINE = ReplacingMergeTree(revision)
ORDER BY (tenant_id, detector_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS anomaly_scores (…)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(time)
ORDER BY (tenant_id, detector_id, series, time)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS dead_letter_marks (…)
ENGINE = ReplacingMergeTree
ORDER BY (tenant_id, id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS dead_letters (…)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, received_at, id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS detection_telemetry (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, day)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS emitted_metrics (…)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (topic, partition, offset, tenant_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS entities (…)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, kind, id, resource_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS error_groups (…)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, fingerprint, service, environment, release, source, project_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS error_hours (…)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMMDD(received_hour)
PRIMARY KEY (tenant_id, hour, fingerprint)
ORDER BY (tenant_id, hour, fingerprint, received_hour, source, service, environment, release, project_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS error_occurrences (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
PRIMARY KEY (tenant_id, toStartOfHour(timestamp), fingerprint)
ORDER BY (tenant_id, toStartOfHour(timestamp), fingerprint, timestamp)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS events (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, time, kind, id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS evidence_heads (…)
ENGINE = ReplacingMergeTree
ORDER BY (tenant_id, size, root, key_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS exemplars (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, metric, series_id, timestamp)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS fields (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, topic, hour, kind, key, type)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS file_changes (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, time, host, id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS fleet_agents (…)
ENGINE = ReplacingMergeTree(version)
ORDER BY (tenant_id, agent_id, part)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS histograms (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, metric, series_id, timestamp)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS landings (…)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, landed_in)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS llm_calls (…)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMMDD(timestamp)
PRIMARY KEY (tenant_id, toStartOfHour(timestamp))
ORDER BY (tenant_id, toStartOfHour(timestamp), timestamp, trace_id, span_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS llm_hour_changes (…)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMMDD(hour)
ORDER BY (tenant_id, hour)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS llm_hours (…)
ENGINE = ReplacingMergeTree(summed_at)
PARTITION BY toYYYYMMDD(hour)
ORDER BY (tenant_id, hour)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, index_granularity = 64;

CREATE TABLE IF NOT EXISTS llm_prices (…)
ENGINE = ReplacingMergeTree(version)
ORDER BY (tenant_id, price_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS log_pattern_counts (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
PRIMARY KEY (tenant_id, toStartOfHour(minute), service, pattern_id)
ORDER BY (tenant_id, toStartOfHour(minute), service, pattern_id, minute)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS log_patterns (…)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, service, structure, pattern_id, places, shard)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS logs (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
PRIMARY KEY (tenant_id, toStartOfTenMinutes(timestamp), service, resource_id)
ORDER BY (tenant_id, toStartOfTenMinutes(timestamp), service, resource_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, merge_selector_base = 16, min_level_for_wide_part = 1, exclude_materialize_skip_indexes_on_merge = 'fresh_text_words';

CREATE TABLE IF NOT EXISTS metric_metadata (…)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, metric, project_id, source, kind, monotonic, unit, description)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS notification_deliveries (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
PRIMARY KEY (tenant_id, channel_id, toStartOfHour(queued_at))
ORDER BY (tenant_id, channel_id, toStartOfHour(queued_at), queued_at, delivery_id, attempt)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS package_changes (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, time, host, id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS placements (…)
ENGINE = ReplacingMergeTree
ORDER BY (shards, shard, tenant, landed_in)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS resource_activity (…)
ENGINE = AggregatingMergeTree
PARTITION BY day
PRIMARY KEY (tenant_id, toStartOfHour(minute), service, resource_id)
ORDER BY (tenant_id, toStartOfHour(minute), service, resource_id, minute, project_id, day)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS resources (…)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, resource_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS rum_events (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
PRIMARY KEY (tenant_id, kind, toStartOfHour(timestamp), service)
ORDER BY (tenant_id, kind, toStartOfHour(timestamp), service, timestamp)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS rum_replays (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, session_id, tab, first)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS rum_sessions (…)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMMDD(received_day)
PRIMARY KEY (tenant_id, hour, service)
ORDER BY (tenant_id, hour, service, session_id, received_day, environment, release, project_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS rum_vitals (…)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMMDD(day)
ORDER BY (tenant_id, day, vital_key)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, allow_dimensions_outside_sorting_key = 1, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS runtime_threats (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, group_id, time, id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS samples (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, metric, series_id, timestamp)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS schema_migrations (…)
ENGINE = ReplacingMergeTree
ORDER BY (id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS secret_findings (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, finding_id, time, id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS series (…)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, metric, series_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS service_edges (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
PRIMARY KEY (tenant_id, toStartOfHour(minute), server, client)
ORDER BY (tenant_id, toStartOfHour(minute), server, client, minute)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS signals (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, time, rule_id, id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS slo_day_changes (…)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, slo_id, series, day)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS slo_days (…)
ENGINE = ReplacingMergeTree(summed_at)
ORDER BY (tenant_id, slo_id, series, day)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS slo_looks (…)
ENGINE = ReplacingMergeTree(look_ms)
ORDER BY (tenant_id, slo_id, series)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS slo_slices (…)
ENGINE = ReplacingMergeTree(look_ms)
PARTITION BY toYYYYMM(begin)
ORDER BY (tenant_id, slo_id, series, begin)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, index_granularity = 1024;

CREATE TABLE IF NOT EXISTS span_metrics (…)
ENGINE = AggregatingMergeTree
PARTITION BY day
PRIMARY KEY (tenant_id, toStartOfHour(minute), service, endpoint, kind)
ORDER BY (tenant_id, toStartOfHour(minute), service, endpoint, kind, minute, project_id, day)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, allow_dimensions_outside_sorting_key = 1;

CREATE TABLE IF NOT EXISTS spans (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
PRIMARY KEY (tenant_id, toStartOfTenMinutes(timestamp), service, name)
ORDER BY (tenant_id, toStartOfTenMinutes(timestamp), service, name)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS summaries (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, metric, series_id, timestamp)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, merge_selector_base = 16, min_level_for_wide_part = 1;

CREATE TABLE IF NOT EXISTS synthetic_latest (…)
ENGINE = ReplacingMergeTree(due_ms)
ORDER BY (tenant_id, check_id, location)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS synthetic_runs (…)
ENGINE = ReplacingMergeTree(earliness)
PARTITION BY toYYYYMM(due)
ORDER BY (tenant_id, check_id, due, location, is_manual)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS synthetic_states (…)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (tenant_id, check_id, location, at)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS synthetic_verdicts (…)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(judged)
ORDER BY (tenant_id, check_id, judged)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS threat_matches (…)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(received_at)
ORDER BY (tenant_id, time, id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS usage (…)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(hour)
PRIMARY KEY (tenant_id, hour, signal)
ORDER BY (tenant_id, hour, signal, project_id, key_id, outcome, reason, service, partition, offset, id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS vulnerability_findings (…)
ENGINE = ReplacingMergeTree(time)
PARTITION BY toYYYYMM(hour)
ORDER BY (tenant_id, hour, finding_id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;
