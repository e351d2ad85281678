import { landedPosition, partitionByDayReceived, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

/** One row per record and secret. Reprocessed records may duplicate an ID: reads must deduplicate. */
export const secretFindingsTable = defineTable({
  name: 'secret_findings',
  summary: 'Secrets in records, without their text',
  retention: 'longest',
  columns: {
    ...tenancy,
    ...landedPosition,
    id: 'String',
    finding_id: 'String',
    time: "DateTime64(3, 'UTC')",
    signal: 'LowCardinality(String)',
    record_id: 'String CODEC(ZSTD(1))',
    trace_id: 'String CODEC(ZSTD(1))',
    span_id: 'String CODEC(ZSTD(1))',
    service: 'LowCardinality(String)',
    field: 'LowCardinality(String)',
    rule: 'LowCardinality(String)',
    fingerprint: 'String',
    preview: 'String',
    key_hash: 'String',
    occurrences: 'UInt32',
    is_redacted: 'Bool',
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'finding_id', 'time', 'id'],
});
