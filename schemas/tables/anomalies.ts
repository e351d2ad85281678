import { anomaliesRetentionDays, scoresRetentionDays } from '../anomalies.ts';
import { defineTable } from './table.ts';

const timeType = "DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))";
const nullableFloat = 'Nullable(Float64) CODEC(ZSTD(1))';

/** Scores of the steps of a detector's series. */
export const anomalyScoresTable = defineTable({
  name: 'anomaly_scores',
  summary: 'Scores of the series that detectors monitor',
  retention: { days: scoresRetentionDays },
  ageColumn: 'time',
  engine: 'ReplacingMergeTree',
  columns: {
    tenant_id: 'LowCardinality(String)',
    detector_id: 'LowCardinality(String)',
    series: 'LowCardinality(String)',
    time: timeType,
    value: 'Float64 CODEC(ZSTD(1))',
    expected: nullableFloat,
    low: nullableFloat,
    high: nullableFloat,
    score: 'Float64 CODEC(ZSTD(1))',
    is_anomalous: 'UInt8',
  },
  partitionBy: 'toYYYYMMDD(time)',
  orderBy: ['tenant_id', 'detector_id', 'series', 'time'],
});

/** Anomalies, as of their last change. Read with FINAL. */
export const anomaliesTable = defineTable({
  name: 'anomalies',
  summary: 'Anomalies found by detectors',
  retention: { days: anomaliesRetentionDays },
  ageColumn: 'time',
  engine: 'ReplacingMergeTree(revision)',
  columns: {
    tenant_id: 'LowCardinality(String)',
    project_id: 'LowCardinality(String)',
    /** Start of the anomaly. */
    time: timeType,
    id: 'String',
    revision: 'UInt32',
    detector_id: 'LowCardinality(String)',
    detector_name: 'LowCardinality(String)',
    detector_labels: 'Map(LowCardinality(String), String)',
    signals: 'Array(LowCardinality(String))',
    step_ms: 'UInt64',
    series: 'String',
    name: 'LowCardinality(String)',
    unit: 'LowCardinality(String)',
    labels: 'Map(LowCardinality(String), String)',
    sign: 'LowCardinality(String)',
    direction: 'LowCardinality(String)',
    /** 0 while the anomaly is ongoing. */
    end_ms: 'UInt64',
    changed_ms: 'UInt64',
    /** Reason of the last change. */
    why: 'LowCardinality(String)',
    score: 'Float64',
    peak_ms: 'UInt64',
    value: 'Float64',
    expected: 'Nullable(Float64)',
    low: 'Nullable(Float64)',
    high: 'Nullable(Float64)',
    before: 'Nullable(Float64)',
  },
  partitionBy: 'toYYYYMM(time)',
  orderBy: ['tenant_id', 'time', 'id'],
});

/**
 * Progress of each detector. Read with FINAL. Some names are older than the terms in the comments: sinks of two
 * versions insert during an upgrade, so the names cannot change. Queries select these columns under other names.
 */
export const anomalyEvaluationsTable = defineTable({
  name: 'anomaly_looks',
  summary: 'Progress of detectors',
  retention: { days: anomaliesRetentionDays },
  identity: 'detector_id',
  engine: 'ReplacingMergeTree(revision)',
  columns: {
    tenant_id: 'LowCardinality(String)',
    detector_id: 'String',
    /** Hash of the query. */
    question: 'String',
    revision: 'UInt64',
    /** Time of the evaluation. */
    look_ms: 'UInt64',
    last_seen: "DateTime64(3, 'UTC')",
    up_to_ms: 'UInt64',
    step_ms: 'UInt64',
    /** 0 while the detector learns history. */
    watched_from_ms: 'UInt64',
    /** 0 once learning is complete. */
    learns_until_ms: 'UInt64',
    /** Start of the learned history. */
    learnt_from_ms: 'UInt64',
    series: 'UInt32',
    learning: 'UInt32',
    /** When the first series will have enough history to be scored; 0 if one already has. */
    speaks_from_ms: 'UInt64',
    /** Number of series that exceed the limit. */
    refused: 'UInt32',
    /** Number of ongoing anomalies. */
    open: 'UInt32',
    error: 'String',
  },
  orderBy: ['tenant_id', 'detector_id'],
});
