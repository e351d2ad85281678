/** Adds columns for the data that senders specify about scopes, resources, single events and links, and metrics. */
import type { Migration } from './migration.ts';

const buildScopeChanges = (table: string): readonly string[] => [
  `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS scope_attributes LowCardinality(String) AFTER scope_version`,
  `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS scope_dropped_attributes UInt32 AFTER scope_attributes`,
  `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS scope_schema_url LowCardinality(String) AFTER scope_dropped_attributes`,
];

const changes: readonly string[] = [
  ...buildScopeChanges('logs'),
  ...buildScopeChanges('spans'),
  ...buildScopeChanges('series'),
  'ALTER TABLE spans ADD COLUMN IF NOT EXISTS event_dropped_attributes Array(UInt32) AFTER event_attribute_types',
  'ALTER TABLE spans ADD COLUMN IF NOT EXISTS link_dropped_attributes Array(UInt32) AFTER link_attribute_types',
  'ALTER TABLE spans ADD COLUMN IF NOT EXISTS link_flags Array(UInt32) AFTER link_dropped_attributes',
  'ALTER TABLE series ADD COLUMN IF NOT EXISTS metadata LowCardinality(String) AFTER description',
  'ALTER TABLE resources ADD COLUMN IF NOT EXISTS dropped_attributes UInt32 AFTER schema_url',
  'ALTER TABLE samples ADD COLUMN IF NOT EXISTS integer Int64 AFTER value',
];

export const storeSenderMetadata: Migration = {
  id: 7,
  name: 'keep what senders say',
  async up(columns) {
    for (const change of changes) await columns.execute(change);
  },
};
