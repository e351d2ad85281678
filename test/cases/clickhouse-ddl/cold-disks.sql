ALTER TABLE agent_events MODIFY TTL toDateTime(timestamp) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE alert_evaluations MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE alert_states MODIFY TTL toDateTime(last_seen) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE alert_transitions MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE anomalies MODIFY TTL toDateTime(time) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE anomaly_looks MODIFY TTL toDateTime(last_seen) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE anomaly_scores MODIFY TTL toDateTime(time) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE dead_letter_marks MODIFY TTL toDateTime(marked_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE dead_letters MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE detection_telemetry MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE emitted_metrics MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE entities MODIFY TTL toDateTime(last_seen) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE error_groups MODIFY TTL toDateTime(last_seen) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE error_hours MODIFY TTL toDateTime(received_hour) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE error_occurrences MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE events MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE exemplars MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE fields MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE file_changes MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE fleet_agents MODIFY TTL toDateTime(last_seen) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE histograms MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE llm_calls MODIFY TTL toDateTime(timestamp) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE llm_hour_changes MODIFY TTL toDateTime(hour) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE llm_hours MODIFY TTL toDateTime(hour) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE log_pattern_counts MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE log_patterns MODIFY TTL toDateTime(last_seen) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE logs MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE metric_metadata MODIFY TTL toDateTime(last_seen) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE notification_deliveries MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE package_changes MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE resource_activity MODIFY TTL toDateTime(day) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE resources MODIFY TTL toDateTime(last_seen) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE rum_events MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE rum_replays MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE rum_sessions MODIFY TTL toDateTime(received_day) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE rum_vitals MODIFY TTL toDateTime(received_day) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE runtime_threats MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE samples MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE secret_findings MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE series MODIFY TTL toDateTime(last_seen) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE service_edges MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE signals MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE slo_day_changes MODIFY TTL toDateTime(day) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE slo_days MODIFY TTL toDateTime(day) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE slo_looks MODIFY TTL toDateTime(last_seen) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE slo_slices MODIFY TTL toDateTime(begin) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE span_metrics MODIFY TTL toDateTime(day) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE spans MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE summaries MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE synthetic_latest MODIFY TTL toDateTime(last_seen) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE synthetic_runs MODIFY TTL toDateTime(due) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE synthetic_states MODIFY TTL toDateTime(at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE synthetic_verdicts MODIFY TTL toDateTime(judged) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE threat_matches MODIFY TTL toDateTime(received_at) + toIntervalDay(7) TO VOLUME 'cold';

ALTER TABLE vulnerability_findings MODIFY TTL toDateTime(hour) + toIntervalDay(7) TO VOLUME 'cold';
