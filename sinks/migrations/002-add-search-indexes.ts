/**
 * Adds indexes for words of bodies, attributes and traces, and reduces merges. Existing parts get the indexes when
 * they are merged; until then, reads work without them.
 */
import type { Migration } from './migration.ts';

const changes: readonly string[] = [
  'ALTER TABLE logs MODIFY COLUMN attributes Map(LowCardinality(String), String) CODEC(ZSTD(1))',
  'ALTER TABLE logs ADD INDEX IF NOT EXISTS body_words lower(body) TYPE text(tokenizer = splitByNonAlpha)',
  'ALTER TABLE logs ADD INDEX IF NOT EXISTS attribute_pairs arrayMap((k, v) -> cityHash64(k, v), mapKeys(attributes), mapValues(attributes)) TYPE bloom_filter(0.01) GRANULARITY 1',
  'ALTER TABLE logs ADD INDEX IF NOT EXISTS trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1',
  'ALTER TABLE logs MODIFY SETTING merge_selector_base = 16',
  'ALTER TABLE spans MODIFY COLUMN attributes Map(LowCardinality(String), String) CODEC(ZSTD(1))',
  'ALTER TABLE spans ADD INDEX IF NOT EXISTS attribute_pairs arrayMap((k, v) -> cityHash64(k, v), mapKeys(attributes), mapValues(attributes)) TYPE bloom_filter(0.01) GRANULARITY 1',
  'ALTER TABLE spans ADD INDEX IF NOT EXISTS trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1',
  'ALTER TABLE spans ADD INDEX IF NOT EXISTS duration_range duration TYPE minmax GRANULARITY 1',
  'ALTER TABLE spans MODIFY SETTING merge_selector_base = 16',
  'ALTER TABLE series MODIFY COLUMN attributes Map(LowCardinality(String), String) CODEC(ZSTD(1))',
  'ALTER TABLE samples MODIFY SETTING merge_selector_base = 16',
  'ALTER TABLE histograms MODIFY SETTING merge_selector_base = 16',
  'ALTER TABLE summaries MODIFY SETTING merge_selector_base = 16',
  'ALTER TABLE exemplars MODIFY COLUMN attributes Map(LowCardinality(String), String) CODEC(ZSTD(1))',
  'ALTER TABLE exemplars ADD INDEX IF NOT EXISTS trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1',
  'ALTER TABLE exemplars MODIFY SETTING merge_selector_base = 16',
  'ALTER TABLE resources MODIFY COLUMN attributes Map(LowCardinality(String), String) CODEC(ZSTD(1))',
];

export const addSearchIndexes: Migration = {
  id: 2,
  name: 'add search indexes',
  async up(columns) {
    for (const change of changes) await columns.execute(change);
  },
};
