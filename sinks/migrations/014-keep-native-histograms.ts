/** Columns for what native histograms of remote-write say besides whole counts. Rows that are there have none of it. */
import type { Migration } from './migration.ts';

export const keepNativeHistograms: Migration = {
  id: 14,
  name: 'keep native histograms',
  async up(columns) {
    await columns.execute('ALTER TABLE histograms ADD COLUMN IF NOT EXISTS reset_hint UInt8 AFTER negative_counts');
    await columns.execute(
      'ALTER TABLE histograms ADD COLUMN IF NOT EXISTS exact_counts Array(Float64) AFTER reset_hint',
    );
  },
};
