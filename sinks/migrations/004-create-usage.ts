/** Adds the usage ledger. It counts from now on, without earlier data. */
import type { Migration } from './migration.ts';

const table = `CREATE TABLE IF NOT EXISTS usage
  (
    tenant_id LowCardinality(String),
    hour DateTime('UTC') CODEC(Delta, ZSTD(1)),
    signal LowCardinality(String),
    project_id LowCardinality(String),
    key_id LowCardinality(String),
    outcome LowCardinality(String),
    reason LowCardinality(String),
    service LowCardinality(String),
    partition UInt16,
    offset UInt64 CODEC(Delta, ZSTD(1)),
    id String CODEC(ZSTD(1)),
    requests UInt64 CODEC(T64, ZSTD(1)),
    records UInt64 CODEC(T64, ZSTD(1)),
    bytes UInt64 CODEC(T64, ZSTD(1)),
    landed_records UInt64 CODEC(T64, ZSTD(1)),
    landed_bytes UInt64 CODEC(T64, ZSTD(1))
  )
  ENGINE = ReplacingMergeTree
  PARTITION BY toYYYYMM(hour)
  PRIMARY KEY (tenant_id, hour, signal)
  ORDER BY (tenant_id, hour, signal, project_id, key_id, outcome, reason, service, partition, offset, id)
  SETTINGS non_replicated_deduplication_window = 10000`;

export const createUsage: Migration = {
  id: 4,
  name: 'create usage',
  async up(columns) {
    await columns.execute(table);
  },
};
