/**
 * Replaces the word filter that inserts build: the new filter has one hash per word instead of three, and a new name.
 * Unmerged parts lose theirs: their bodies are read until the first merge.
 */
import type { Migration } from './migration.ts';

const changes: readonly string[] = [
  'ALTER TABLE logs ADD INDEX IF NOT EXISTS fresh_words lower(body) TYPE tokenbf_v1(32768, 1, 0) GRANULARITY 1 AFTER body_words',
  "ALTER TABLE logs MODIFY SETTING exclude_materialize_skip_indexes_on_merge = 'fresh_words'",
  'ALTER TABLE logs DROP INDEX IF EXISTS fresh_body_tokens',
];

export const reduceWordFilterCost: Migration = {
  id: 15,
  name: 'cheaper fresh words',
  async up(columns) {
    for (const change of changes) await columns.execute(change);
  },
};
