import { defineTable } from './table.ts';

/**
 * Up to when records have been received that are stored, by tenant and table. Sinks tell it a second apart at most (`Columns.recordWatermark`), so
 * that it grows with time and not with what lands; where engine and sinks are one process it is told in memory, and this stays empty.
 */
export const landingsTable = defineTable({
  name: 'landings',
  summary: 'The newest time of reception of what has landed, by tenant and table',
  retention: 'never',
  liesBy: 'tenant',
  engine: 'AggregatingMergeTree',
  columns: {
    tenant_id: 'LowCardinality(String)',
    /** Of the records. */
    landed_in: 'LowCardinality(String)',
    newest: "SimpleAggregateFunction(max, DateTime64(3, 'UTC'))",
  },
  orderBy: ['tenant_id', 'landed_in'],
});
