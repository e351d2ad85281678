import { slicesKeptDays } from '../slo-slices.ts';
import { defineTable } from './table.ts';

/** A slice of an objective that had events. A later look replaces it: read with FINAL. */
export const sloSlicesTable = defineTable({
  name: 'slo_slices',
  summary: 'Good and total of the slices of service level objectives',
  retention: { days: slicesKeptDays },
  ageColumn: 'begin',
  engine: 'ReplacingMergeTree(look_ms)',
  columns: {
    tenant_id: 'LowCardinality(String)',
    slo_id: 'LowCardinality(String)',
    series: 'LowCardinality(String)',
    begin: "DateTime('UTC') CODEC(Delta, ZSTD(1))",
    good: 'UInt64 CODEC(ZSTD(1))',
    total: 'UInt64 CODEC(ZSTD(1))',
    look_ms: 'UInt64 CODEC(Delta, ZSTD(1))',
  },
  partitionBy: 'toYYYYMM(begin)',
  orderBy: ['tenant_id', 'slo_id', 'series', 'begin'],
});

/** How far each objective is measured. Read with FINAL. */
export const sloLooksTable = defineTable({
  name: 'slo_looks',
  summary: 'How far service level objectives are measured',
  retention: { days: slicesKeptDays },
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
