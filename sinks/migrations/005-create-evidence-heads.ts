import type { Migration } from './migration.ts';

const table = `CREATE TABLE IF NOT EXISTS evidence_heads
  (
    tenant_id LowCardinality(String),
    size UInt64,
    root String,
    key_id LowCardinality(String),
    last_hash String,
    subtrees String,
    signed_at DateTime64(3, 'UTC'),
    signature String,
    partition UInt16,
    offset UInt64
  )
  ENGINE = ReplacingMergeTree
  ORDER BY (tenant_id, size, root, key_id)
  SETTINGS non_replicated_deduplication_window = 10000`;

export const createEvidenceHeads: Migration = {
  id: 5,
  name: 'create evidence heads',
  async up(columns) {
    await columns.execute(table);
  },
};
