import { landedPosition, partitionByDayReceived, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

/** An ID may have several rows: the one with the largest count is the latest. Reads use that row. */
export const threatMatchesTable = defineTable({
  name: 'threat_matches',
  summary: 'Matches of threat indicators in records',
  retention: 'longest',
  columns: {
    ...tenancy,
    ...landedPosition,
    id: 'String',
    type: 'LowCardinality(String)',
    value: 'String CODEC(ZSTD(1))',
    source: 'LowCardinality(String)',
    score: 'UInt8',
    field: 'LowCardinality(String)',
    observed: 'String CODEC(ZSTD(1))',
    record_id: 'String CODEC(ZSTD(1))',
    time: "DateTime64(3, 'UTC')",
    last_time: "DateTime64(3, 'UTC')",
    count: 'UInt64',
    service: 'LowCardinality(String)',
    host: 'String CODEC(ZSTD(1))',
    user: 'String CODEC(ZSTD(1))',
    retro_hunt: 'Bool',
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'time', 'id'],
});
