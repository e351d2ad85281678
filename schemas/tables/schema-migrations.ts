import { defineTable } from './table.ts';

/** Applied migrations. */
export const schemaMigrationsTable = defineTable({
  name: 'schema_migrations',
  summary: 'Applied migrations',
  retention: 'never',
  engine: 'ReplacingMergeTree',
  columns: { id: 'UInt32', name: 'String', applied_at: "DateTime64(3, 'UTC')" },
  orderBy: ['id'],
});
