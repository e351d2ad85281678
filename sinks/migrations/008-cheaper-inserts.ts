/** Inserts write one file for all columns, and merges still write one per column. Existing parts do not change. */
import type { Migration } from './migration.ts';

const tables = ['logs', 'spans', 'samples', 'histograms', 'summaries', 'exemplars'];

export const reduceInsertCost: Migration = {
  id: 8,
  name: 'cheaper inserts',
  async up(columns) {
    for (const table of tables)
      await columns.execute(`ALTER TABLE ${table} MODIFY SETTING min_level_for_wide_part = 1`);
  },
};
