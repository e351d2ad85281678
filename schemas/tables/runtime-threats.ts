import { landedPosition, partitionByDayReceived, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

/** One row per event. Reprocessed records may duplicate an ID: reads must deduplicate. */
export const runtimeThreatsTable = defineTable({
  name: 'runtime_threats',
  summary: 'Events of runtime security sensors',
  retention: 'longest',
  columns: {
    ...tenancy,
    ...landedPosition,
    id: 'String',
    group_id: 'String',
    record_id: 'String CODEC(ZSTD(1))',
    time: "DateTime64(3, 'UTC')",
    source: 'LowCardinality(String)',
    rule: 'LowCardinality(String)',
    severity: 'LowCardinality(String)',
    message: 'String CODEC(ZSTD(1))',
    service: 'LowCardinality(String)',
    host: 'LowCardinality(String)',
    workload: 'LowCardinality(String)',
    namespace: 'LowCardinality(String)',
    pod: 'LowCardinality(String)',
    image: 'LowCardinality(String)',
    program: 'LowCardinality(String)',
    command_line: 'String CODEC(ZSTD(1))',
    target: 'String CODEC(ZSTD(1))',
    target_pattern: 'String CODEC(ZSTD(1))',
    user: 'LowCardinality(String)',
    action: 'LowCardinality(String)',
    techniques: 'Array(LowCardinality(String))',
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'group_id', 'time', 'id'],
});
