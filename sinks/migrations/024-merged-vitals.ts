/** Parts of a past day of web vitals become one, so that reads need not merge them. */
import { changeSchema, tableExists } from './declared-tables.ts';
import type { Migration } from './migration.ts';

const settings = {
  allow_dimensions_outside_sorting_key: 1,
  min_age_to_force_merge_seconds: 3_600,
  min_age_to_force_merge_on_partition_only: 1,
};

export const mergeVitals: Migration = {
  id: 24,
  name: 'merged vitals',
  async up(tables) {
    // A table that does not exist yet is created from its declaration, which includes these settings.
    if (!(await tableExists(tables, 'rum_vitals'))) return;
    const list = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    await tables.execute(`ALTER TABLE rum_vitals MODIFY SETTING ${list.join(', ')}`);
    await changeSchema(tables, 'rum_vitals', (shape) => ({ ...shape, settings }));
  },
};
