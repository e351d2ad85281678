import { slicesRetentionDays } from '../slo-slices.ts';
import { defineTable, type MaterializedView } from './table.ts';

/**
 * A time slice of an SLO that had events. A later measurement replaces it: read with FINAL, some hours of one SLO at a
 * time.
 */
export const sloSlicesTable = defineTable({
  name: 'slo_slices',
  summary: 'Good and total counts of the time slices of SLOs',
  retention: { days: slicesRetentionDays },
  ageColumn: 'begin',
  engine: 'ReplacingMergeTree(look_ms)',
  columns: {
    tenant_id: 'LowCardinality(String)',
    slo_id: 'LowCardinality(String)',
    series: 'LowCardinality(String)',
    /** Codecs that decode fast: reads mostly need only a few hours of a 64 KiB block. */
    begin: "DateTime('UTC') CODEC(Delta, LZ4)",
    good: 'UInt64 CODEC(T64, LZ4)',
    total: 'UInt64 CODEC(T64, LZ4)',
    /** Time of the measurement. */
    look_ms: 'UInt64 CODEC(Delta, LZ4)',
    /** Fractions of `good` and `total`, in billionths of an event. */
    good_billionths: 'UInt32 CODEC(T64, LZ4)',
    total_billionths: 'UInt32 CODEC(T64, LZ4)',
  },
  partitionBy: 'toYYYYMM(begin)',
  orderBy: ['tenant_id', 'slo_id', 'series', 'begin'],
  settings: { index_granularity: 1024 },
});

/**
 * Measurement progress of each SLO. Read with FINAL. The names of the table and of `look_ms` are older than the term
 * measurement: sinks of two versions insert during an upgrade, so the names cannot change.
 */
export const sloMeasurementsTable = defineTable({
  name: 'slo_looks',
  summary: 'Measurement progress of SLOs',
  retention: { days: slicesRetentionDays },
  identity: 'slo_id',
  engine: 'ReplacingMergeTree(look_ms)',
  columns: {
    tenant_id: 'LowCardinality(String)',
    slo_id: 'String',
    series: 'String',
    /** Time of the measurement. */
    look_ms: 'UInt64',
    last_seen: "DateTime64(3, 'UTC')",
    from_ms: 'UInt64',
    up_to_ms: 'UInt64',
    settled_up_to_ms: 'UInt64',
    error: 'String',
    objective: 'String CODEC(ZSTD(1))',
  },
  orderBy: ['tenant_id', 'slo_id', 'series'],
});

/**
 * Days (UTC, by slice start) in which slices were written, and the number of writes. The sums of a day are valid while
 * that number is unchanged.
 */
export const sloDayChangesTable = defineTable({
  name: 'slo_day_changes',
  summary: 'Number of writes of the time slices of a day',
  retention: { days: slicesRetentionDays },
  ageColumn: 'day',
  engine: 'AggregatingMergeTree',
  columns: {
    tenant_id: 'LowCardinality(String)',
    slo_id: 'LowCardinality(String)',
    series: 'LowCardinality(String)',
    day: 'Date',
    changes: 'SimpleAggregateFunction(sum, UInt64)',
    changed_at: "SimpleAggregateFunction(max, DateTime('UTC'))",
  },
  orderBy: ['tenant_id', 'slo_id', 'series', 'day'],
});

export const sloDayChangesView: MaterializedView = {
  name: 'slo_day_changes_view',
  from: 'slo_slices',
  to: 'slo_day_changes',
  select: `SELECT tenant_id, slo_id, series, toDate(begin) AS day, count() AS changes, now('UTC') AS changed_at
FROM slo_slices GROUP BY tenant_id, slo_id, series, day`,
  // A count above the actual number of changes only causes one more summation.
  backfillColumns: ['tenant_id', 'slo_id', 'series', 'day', 'changes', 'changed_at'],
};

/**
 * Sums of the slices of a day, for a number of changes. Read with FINAL, and only if the number of changes is current
 * (`subjects/slos/slices/tallies.ts`).
 */
export const sloDaysTable = defineTable({
  name: 'slo_days',
  summary: 'Sums of the time slices of a day',
  retention: { days: slicesRetentionDays },
  ageColumn: 'day',
  engine: 'ReplacingMergeTree(summed_at)',
  columns: {
    tenant_id: 'LowCardinality(String)',
    slo_id: 'LowCardinality(String)',
    series: 'LowCardinality(String)',
    day: 'Date',
    changes: 'UInt64',
    summed_at: "DateTime64(3, 'UTC')",
    good: 'UInt64',
    total: 'UInt64',
    slices: 'UInt64',
    /** Budgeting method of the other columns, with its slice target: `timeslices 0.95`. */
    counted_for: 'LowCardinality(String)',
    /** Number of slices that reached the slice target. */
    reached: 'UInt64',
    /** Sum of the slices' good ratios, each rounded down, in units of 2^-190. */
    shares: 'UInt256',
    /** Good count by total, if there are few enough totals to add exactly. */
    good_by_total: 'Map(UInt64, UInt64)',
    /** Fractions of `good` and `total`, in billionths of an event. */
    good_billionths: 'UInt32',
    total_billionths: 'UInt32',
  },
  orderBy: ['tenant_id', 'slo_id', 'series', 'day'],
});
