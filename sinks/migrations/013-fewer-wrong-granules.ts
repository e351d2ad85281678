/**
 * A filter of words that is wrong about one granule of a thousand instead of a hundred, by a name of its own: filters of one name are read
 * as the declaration says, whenever they were made. Old parts get it in the background, at half a CPU-second for a million rows; until then
 * words are looked for in all their bodies.
 */
import type { Migration } from './migration.ts';

const changes: readonly string[] = [
  'ALTER TABLE logs ADD INDEX IF NOT EXISTS body_words tokens(lower(body)) TYPE bloom_filter(0.001) GRANULARITY 1 FIRST',
  'ALTER TABLE logs MATERIALIZE INDEX body_words',
  'ALTER TABLE logs DROP INDEX IF EXISTS body_tokens',
];

export const fewerWrongGranules: Migration = {
  id: 13,
  name: 'fewer wrong granules',
  async up(columns) {
    for (const change of changes) await columns.execute(change);
  },
};
