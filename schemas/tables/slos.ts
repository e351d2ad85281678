import { slicesRetentionDays } from '../slo-slices.ts';
import { defineTable, type MaterializedView } from './table.ts';

/** A slice of an objective that had events. A later look replaces it: read with FINAL, of one objective some hours at a time. */
export const sloSlicesTable = defineTable({
  name: 'slo_slices',
  summary: 'Good and total of the slices of service level objectives',
  retention: { days: slicesRetentionDays },
  ageColumn: 'begin',
  engine: 'ReplacingMergeTree(look_ms)',
  columns: {
    tenant_id: 'LowCardinality(String)',
    slo_id: 'LowCardinality(String)',
    series: 'LowCardinality(String)',
    /** Codecs that are quick to read: of blocks of 64 KiB mostly a few hours are asked for. */
    begin: "DateTime('UTC') CODEC(Delta, LZ4)",
    good: 'UInt64 CODEC(T64, LZ4)',
    total: 'UInt64 CODEC(T64, LZ4)',
    look_ms: 'UInt64 CODEC(Delta, LZ4)',
  },
  partitionBy: 'toYYYYMM(begin)',
  orderBy: ['tenant_id', 'slo_id', 'series', 'begin'],
  settings: { index_granularity: 1024 },
});

/** How far each objective is measured. Read with FINAL. */
export const sloMeasurementsTable = defineTable({
  name: 'slo_looks',
  summary: 'How far service level objectives are measured',
  retention: { days: slicesRetentionDays },
  identity: 'slo_id',
  engine: 'ReplacingMergeTree(look_ms)',
  columns: {
    tenant_id: 'LowCardinality(String)',
    slo_id: 'String',
    series: 'String',
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

/** Days (UTC, of the slices' begins) in which slices were written, and how often: what was summed up of a day is true as long as that is the same. */
export const sloDayChangesTable = defineTable({
  name: 'slo_day_changes',
  summary: 'How often slices of a day were written',
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
  // More changes than there were cost one more summing up.
  backfillColumns: ['tenant_id', 'slo_id', 'series', 'day', 'changes', 'changed_at'],
};

/** Sums of the slices of a day, at a number of changes. Read with FINAL, and only where the changes are the same (`queries/slos/tallies.ts`). */
export const sloDaysTable = defineTable({
  name: 'slo_days',
  summary: 'Sums of the slices of a day',
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
    /** The way of budgeting for which the others are counted, with its slice target: `timeslices 0.95`. */
    counted_for: 'LowCardinality(String)',
    /** Slices that reached the slice target. */
    reached: 'UInt64',
    /** Shares of good of the slices, each rounded down, in parts of 2^190. */
    shares: 'UInt256',
    /** Good by total, where there are not more totals than are added exactly. */
    good_by_total: 'Map(UInt64, UInt64)',
  },
  orderBy: ['tenant_id', 'slo_id', 'series', 'day'],
});
