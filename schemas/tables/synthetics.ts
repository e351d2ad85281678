import { runsRetentionDays, statesRetentionDays } from '../synthetic-runs.ts';
import { defineTable } from './table.ts';

const timeType = "DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))";

/** A run of a check. A repeated report merges into the first: read with FINAL. */
export const syntheticRunsTable = defineTable({
  name: 'synthetic_runs',
  summary: 'Runs of synthetic checks',
  retention: { days: runsRetentionDays },
  ageColumn: 'due',
  engine: 'ReplacingMergeTree(earliness)',
  columns: {
    tenant_id: 'LowCardinality(String)',
    project_id: 'LowCardinality(String)',
    check_id: 'LowCardinality(String)',
    location: 'LowCardinality(String)',
    due: timeType,
    is_manual: 'UInt8',
    earliness: 'UInt64 CODEC(ZSTD(1))',
    started: timeType,
    outcome: 'LowCardinality(String)',
    attempts: 'UInt8',
    duration_ms: 'Float64 CODEC(ZSTD(1))',
    phases: 'String CODEC(ZSTD(1))',
    steps: 'String CODEC(ZSTD(1))',
    message: 'String CODEC(ZSTD(1))',
    trace_id: 'String CODEC(ZSTD(1))',
    check_name: 'LowCardinality(String)',
    check_type: 'LowCardinality(String)',
    labels: 'Map(LowCardinality(String), String) CODEC(ZSTD(1))',
    received_at: "DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))",
  },
  partitionBy: 'toYYYYMM(due)',
  orderBy: ['tenant_id', 'check_id', 'due', 'location', 'is_manual'],
});

/** Latest result of each check and location. Read with FINAL. */
export const syntheticLatestTable = defineTable({
  name: 'synthetic_latest',
  summary: 'Latest results of synthetic checks',
  retention: { days: statesRetentionDays },
  identity: 'check_id',
  engine: 'ReplacingMergeTree(due_ms)',
  columns: {
    tenant_id: 'LowCardinality(String)',
    check_id: 'String',
    location: 'String',
    due_ms: 'UInt64',
    last_seen: "DateTime64(3, 'UTC')",
    started_ms: 'UInt64',
    outcome: 'LowCardinality(String)',
    message: 'String',
  },
  orderBy: ['tenant_id', 'check_id', 'location'],
});

/** Start of the state of each check and each of its locations. Read with FINAL. */
export const syntheticStatesTable = defineTable({
  name: 'synthetic_states',
  summary: 'States of synthetic checks and their locations',
  retention: { days: statesRetentionDays },
  ageColumn: 'at',
  engine: 'ReplacingMergeTree',
  columns: {
    tenant_id: 'LowCardinality(String)',
    check_id: 'LowCardinality(String)',
    location: 'LowCardinality(String)',
    at: timeType,
    state: 'LowCardinality(String)',
  },
  partitionBy: 'toYYYYMM(at)',
  orderBy: ['tenant_id', 'check_id', 'location', 'at'],
});

/** Verdicts on each check: at each change, and repeated at intervals. */
export const syntheticVerdictsTable = defineTable({
  name: 'synthetic_verdicts',
  summary: 'Verdicts on synthetic checks',
  retention: { days: runsRetentionDays },
  ageColumn: 'judged',
  engine: 'ReplacingMergeTree',
  columns: {
    tenant_id: 'LowCardinality(String)',
    check_id: 'LowCardinality(String)',
    judged: timeType,
    state: 'LowCardinality(String)',
    is_maintenance: 'UInt8',
    says: 'String CODEC(ZSTD(1))',
    locations: 'String CODEC(ZSTD(1))',
  },
  partitionBy: 'toYYYYMM(judged)',
  orderBy: ['tenant_id', 'check_id', 'judged'],
});
