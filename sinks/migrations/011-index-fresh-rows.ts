/**
 * Adds a word index that inserts build and merges omit, and a time index that is finer than the sorting key. Existing
 * parts do not need the first. The second is small, so they get it too.
 */
import type { Migration } from './migration.ts';

const changes: readonly string[] = [
  'ALTER TABLE logs ADD INDEX IF NOT EXISTS fresh_body_tokens lower(body) TYPE tokenbf_v1(32768, 3, 0) GRANULARITY 1 AFTER body_tokens',
  "ALTER TABLE logs MODIFY SETTING exclude_materialize_skip_indexes_on_merge = 'fresh_body_tokens'",
  ...['logs', 'spans'].flatMap((table) => [
    `ALTER TABLE ${table} ADD INDEX IF NOT EXISTS time_range timestamp TYPE minmax GRANULARITY 1`,
    `ALTER TABLE ${table} MATERIALIZE INDEX time_range`,
  ]),
];

export const indexFreshRows: Migration = {
  id: 11,
  name: 'index fresh rows',
  async up(columns) {
    for (const change of changes) await columns.execute(change);
  },
};
