import { landedPosition, partitionByDayReceived, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

/**
 * One row per security signal. An ID may have several rows if a rule matched a record again (a retro hunt), or if
 * suppression hid further events: reads use the row with most events.
 */
export const signalsTable = defineTable({
  name: 'signals',
  summary: 'Security signals of detection rules',
  retention: 'longest',
  columns: {
    ...tenancy,
    ...landedPosition,
    id: 'String',
    kind: 'LowCardinality(String)',
    time: "DateTime64(3, 'UTC')",
    rule_id: 'LowCardinality(String)',
    rule_version: 'UInt32',
    rule_title: 'LowCardinality(String)',
    severity: 'LowCardinality(String)',
    risk_score: 'Float64',
    /** JSON of the records with the matched fields. */
    events: 'String CODEC(ZSTD(1))',
    event_count: 'UInt32',
    /** Type and value, such as `user ann`. */
    entities: 'Array(String) CODEC(ZSTD(1))',
    tactics: 'Array(LowCardinality(String))',
    techniques: 'Array(LowCardinality(String))',
    group_by: 'Map(LowCardinality(String), String)',
    /** Empty if not suppressed. */
    suppressed_by: 'LowCardinality(String)',
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'time', 'rule_id', 'id'],
});
