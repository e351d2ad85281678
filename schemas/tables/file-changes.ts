import { landedPosition, partitionByDayReceived, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

/** One row per change. Reprocessed records may duplicate an ID: reads must deduplicate. */
export const fileChangesTable = defineTable({
  name: 'file_changes',
  summary: 'Changes of files, as records report them',
  retention: 'longest',
  columns: {
    ...tenancy,
    ...landedPosition,
    id: 'String',
    record_id: 'String',
    time: "DateTime64(3, 'UTC')",
    service: 'LowCardinality(String)',
    source: 'LowCardinality(String)',
    action: 'LowCardinality(String)',
    path: 'String CODEC(ZSTD(1))',
    path_before: 'String CODEC(ZSTD(1))',
    host: 'LowCardinality(String)',
    user: 'LowCardinality(String)',
    process: 'LowCardinality(String)',
    process_id: 'String',
    /** Known state of the file: hashes, mode, owner, group, size. */
    before: 'Map(LowCardinality(String), String) CODEC(ZSTD(1))',
    after: 'Map(LowCardinality(String), String) CODEC(ZSTD(1))',
    changed: 'Array(LowCardinality(String))',
    rule: 'LowCardinality(String)',
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'time', 'host', 'id'],
});

/** One row per installed, upgraded or removed package. */
export const packageChangesTable = defineTable({
  name: 'package_changes',
  summary: 'Packages that package managers installed, upgraded or removed',
  retention: 'longest',
  columns: {
    ...tenancy,
    ...landedPosition,
    id: 'String',
    record_id: 'String',
    time: "DateTime64(3, 'UTC')",
    host: 'LowCardinality(String)',
    manager: 'LowCardinality(String)',
    action: 'LowCardinality(String)',
    package: 'LowCardinality(String)',
    version: 'String',
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'time', 'host', 'id'],
});
