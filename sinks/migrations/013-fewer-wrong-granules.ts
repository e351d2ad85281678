/**
 * Adds a word filter with a false-positive rate of one granule in a thousand instead of one in a hundred. It has a new
 * name, because filters with the same name are read as declared, whenever they were built. Existing parts get it in
 * the background, which takes half a CPU second per million rows. Until then word searches read all their bodies.
 */
import type { Migration } from './migration.ts';

const changes: readonly string[] = [
  'ALTER TABLE logs ADD INDEX IF NOT EXISTS body_words tokens(lower(body)) TYPE bloom_filter(0.001) GRANULARITY 1 FIRST',
  'ALTER TABLE logs MATERIALIZE INDEX body_words',
  'ALTER TABLE logs DROP INDEX IF EXISTS body_tokens',
];

export const reduceFalsePositiveGranules: Migration = {
  id: 13,
  name: 'fewer wrong granules',
  async up(columns) {
    for (const change of changes) await columns.execute(change);
  },
};
