/**
 * Adds columns for the values inside the arrays and maps of bodies and of resource attributes. Existing rows have none:
 * their values are only in the text of the body or attribute.
 */
import type { Migration } from './migration.ts';

const changes: readonly string[] = [
  'ALTER TABLE logs ADD COLUMN IF NOT EXISTS body_values Map(LowCardinality(String), String) CODEC(ZSTD(1)) AFTER body_type',
  'ALTER TABLE logs ADD COLUMN IF NOT EXISTS body_value_types LowCardinality(String) AFTER body_values',
  'ALTER TABLE logs ADD INDEX IF NOT EXISTS body_value_pairs arrayMap((k, v) -> cityHash64(k, v), mapKeys(body_values), mapValues(body_values)) TYPE bloom_filter(0.01) GRANULARITY 1 AFTER attribute_pairs',
  'ALTER TABLE resources ADD COLUMN IF NOT EXISTS nested_keys SimpleAggregateFunction(max, Array(String)) AFTER last_seen',
  'ALTER TABLE resources ADD COLUMN IF NOT EXISTS nested_values SimpleAggregateFunction(max, Array(String)) AFTER nested_keys',
  'ALTER TABLE resources ADD COLUMN IF NOT EXISTS nested_types SimpleAggregateFunction(max, String) AFTER nested_values',
];

export const storeNestedValues: Migration = {
  id: 23,
  name: 'store nested values',
  async up(columns) {
    for (const change of changes) await columns.execute(change);
  },
};
