import { landedPosition, ordinal, partitionByDayReceived, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

const millisecondType = "DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))";
const labelsType = 'Map(LowCardinality(String), String) CODEC(ZSTD(1))';

/** One row per alert state change. A repeated evaluation may duplicate an ID: reads must deduplicate. */
export const alertTransitionsTable = defineTable({
  name: 'alert_transitions',
  summary: 'Alert state changes, one row each',
  retention: 'longest',
  columns: {
    ...tenancy,
    id: 'String CODEC(ZSTD(1))',
    alert_id: 'String CODEC(ZSTD(1))',
    rule_id: 'LowCardinality(String)',
    rule_version: 'UInt32',
    rule_name: 'LowCardinality(String)',
    time: millisecondType,
    from_state: 'LowCardinality(String)',
    to_state: 'LowCardinality(String)',
    severity: 'LowCardinality(String)',
    labels: labelsType,
    annotations: labelsType,
    /** When the alert started firing; the epoch if it never did. */
    started_at: millisecondType,
    /** When the alert stopped firing; the epoch if it did not. */
    ended_at: millisecondType,
    value: 'Nullable(Float64)',
    reason: 'String CODEC(ZSTD(1))',
    is_test: 'Bool',
    ...ordinal,
    ...landedPosition,
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'rule_id', 'time', 'alert_id'],
});

/** Results of each evaluation: one row for the rule, with an empty alert, and one for each group. */
export const alertEvaluationsTable = defineTable({
  name: 'alert_evaluations',
  summary: 'Evaluations of alert rules, by group',
  retention: 'longest',
  columns: {
    ...tenancy,
    rule_id: 'LowCardinality(String)',
    rule_version: 'UInt32',
    time: millisecondType,
    alert_id: 'String CODEC(ZSTD(1))',
    labels: labelsType,
    state: 'LowCardinality(String)',
    severity: 'LowCardinality(String)',
    value: 'Nullable(Float64)',
    reason: 'String CODEC(ZSTD(3))',
    error: 'String CODEC(ZSTD(1))',
    duration_ms: 'Float64',
    late_ms: 'UInt32',
    groups: 'UInt32',
    firing: 'UInt32',
    ...ordinal,
    ...landedPosition,
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'rule_id', 'time', 'alert_id'],
});

/**
 * Current states of alerts, from the last evaluation that contains each. The row with an empty alert is that of the
 * rule. Read with FINAL.
 */
export const alertStatesTable = defineTable({
  name: 'alert_states',
  summary: 'States of alerts and rules after their last evaluation',
  retention: 'longest',
  identity: 'alert_id',
  engine: 'ReplacingMergeTree(evaluated_ms)',
  columns: {
    ...tenancy,
    rule_id: 'String',
    alert_id: 'String',
    evaluated_ms: 'UInt64',
    last_seen: "DateTime64(3, 'UTC')",
    labels: 'Map(String, String)',
    state: 'LowCardinality(String)',
    severity: 'LowCardinality(String)',
    value: 'Nullable(Float64)',
    reason: 'String',
    error: 'String',
    since_ms: 'UInt64',
    started_ms: 'UInt64',
    duration_ms: 'Float64',
    late_ms: 'UInt32',
    groups: 'UInt32',
    firing: 'UInt32',
  },
  orderBy: ['tenant_id', 'rule_id', 'alert_id'],
});
