import { byDayReceived, landed, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

/** One row a change. An id may be there twice where records were stepped again: reads take one. */
export const fileChangesTable = defineTable({
  name: 'file_changes',
  summary: 'Changes of files, as records tell of them',
  retention: 'longest',
  columns: {
    ...tenancy,
    ...landed,
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
    /** What is known of the file: hashes, mode, owner, group, size. */
    before: 'Map(LowCardinality(String), String) CODEC(ZSTD(1))',
    after: 'Map(LowCardinality(String), String) CODEC(ZSTD(1))',
    changed: 'Array(LowCardinality(String))',
    rule: 'LowCardinality(String)',
  },
  partitionBy: byDayReceived,
  orderBy: ['tenant_id', 'time', 'host', 'id'],
});

/** One row a package that was installed, upgraded or removed. */
export const packageChangesTable = defineTable({
  name: 'package_changes',
  summary: 'Packages that package managers installed, upgraded or removed',
  retention: 'longest',
  columns: {
    ...tenancy,
    ...landed,
    id: 'String',
    record_id: 'String',
    time: "DateTime64(3, 'UTC')",
    host: 'LowCardinality(String)',
    manager: 'LowCardinality(String)',
    action: 'LowCardinality(String)',
    package: 'LowCardinality(String)',
    version: 'String',
  },
  partitionBy: byDayReceived,
  orderBy: ['tenant_id', 'time', 'host', 'id'],
});
