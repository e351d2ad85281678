/** Adds columns for the parts of remote-write native histograms besides integer counts. Existing rows have none. */
import type { Migration } from './migration.ts';

/** Each column and its predecessor. */
const addedColumns: readonly (readonly [column: string, before: string])[] = [
  ['reset_hint UInt8', 'negative_counts'],
  ['exact_counts Array(Float64)', 'reset_hint'],
  ['positive_spans Array(Int32)', 'exact_counts'],
  ['negative_spans Array(Int32)', 'positive_spans'],
];

export const storeNativeHistograms: Migration = {
  id: 14,
  name: 'keep native histograms',
  async up(columns) {
    for (const [column, before] of addedColumns)
      await columns.execute(`ALTER TABLE histograms ADD COLUMN IF NOT EXISTS ${column} AFTER ${before}`);
  },
};
