/**
 * Adds an index of resources in addition to the index of attributes; the engine uses both. The index is small, so
 * existing parts get it too.
 */
import type { Migration } from './migration.ts';

export const indexResources: Migration = {
  id: 9,
  name: 'index resources',
  async up(columns) {
    for (const table of ['logs', 'spans']) {
      await columns.execute(
        `ALTER TABLE ${table} ADD INDEX IF NOT EXISTS resource_range resource_id TYPE minmax GRANULARITY 1`,
      );
      await columns.execute(`ALTER TABLE ${table} MATERIALIZE INDEX resource_range`);
    }
  },
};
