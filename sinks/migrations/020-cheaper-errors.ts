/**
 * Errors land like records: an insert writes one file for all columns, and merges combine more parts. Existing parts do
 * not change.
 */
import { changeSchema, tableExists } from './declared-tables.ts';
import type { Migration } from './migration.ts';

const settings = { merge_selector_base: 16, min_level_for_wide_part: 1 };

export const cheaperErrors: Migration = {
  id: 20,
  name: 'cheaper errors',
  async up(tables) {
    // A table that does not exist yet is created from its declaration, which includes these settings.
    if (!(await tableExists(tables, 'error_occurrences'))) return;
    const list = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    await tables.execute(`ALTER TABLE error_occurrences MODIFY SETTING ${list.join(', ')}`);
    await changeSchema(tables, 'error_occurrences', (shape) => ({ ...shape, settings }));
  },
};
