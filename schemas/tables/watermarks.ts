import { defineTable } from './table.ts';

/**
 * Reception time up to which records are stored, by tenant and table. Sinks report it at most once per second
 * (`Columns.recordWatermark`), so that the table grows with time and not with the data volume. If engine and sinks
 * share a process, the time is passed in memory and this table stays empty. The names `landings` and `landed_in` are
 * older than the term watermark: processes of two versions use the table during an upgrade, so they cannot change.
 */
export const watermarksTable = defineTable({
  name: 'landings',
  summary: 'Latest reception time of stored data, by tenant and table',
  retention: 'never',
  shardedBy: 'tenant',
  engine: 'AggregatingMergeTree',
  columns: {
    tenant_id: 'LowCardinality(String)',
    /** Table that stores the records. */
    landed_in: 'LowCardinality(String)',
    newest: "SimpleAggregateFunction(max, DateTime64(3, 'UTC'))",
  },
  orderBy: ['tenant_id', 'landed_in'],
});
