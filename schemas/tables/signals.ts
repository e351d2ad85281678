import { byDayReceived, landed, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

/** One row a signal. An id may be there again where a rule matched a record again (a retro-hunt), or with more events where its suppression hid others: reads take the one with most. */
export const signalsTable = defineTable({
  name: 'signals',
  summary: 'What detection rules found',
  retention: 'longest',
  columns: {
    ...tenancy,
    ...landed,
    id: 'String',
    kind: 'LowCardinality(String)',
    time: "DateTime64(3, 'UTC')",
    rule_id: 'LowCardinality(String)',
    rule_version: 'UInt32',
    rule_title: 'LowCardinality(String)',
    severity: 'LowCardinality(String)',
    risk_score: 'Float64',
    /** JSON: records with the fields that matched. */
    events: 'String CODEC(ZSTD(1))',
    event_count: 'UInt32',
    /** `user ann`: type and value. */
    entities: 'Array(String) CODEC(ZSTD(1))',
    tactics: 'Array(LowCardinality(String))',
    techniques: 'Array(LowCardinality(String))',
    group_by: 'Map(LowCardinality(String), String)',
    /** Empty for none. */
    suppressed_by: 'LowCardinality(String)',
  },
  partitionBy: byDayReceived,
  orderBy: ['tenant_id', 'time', 'rule_id', 'id'],
});
