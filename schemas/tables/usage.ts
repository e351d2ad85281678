import { defineTable } from './table.ts';

/**
 * The usage ledger: outcomes of received data. `accepted + replayed = landed + dead-lettered`, for each hour of
 * reception, once all processing is complete.
 * - `accepted`: durable on the bus. The landed part is counted separately, by service.
 * - `replayed`: a consumer's dead letter that was published again; its records were accepted before.
 * - `dead-lettered`: could not be landed; `id` is that of the dead letter.
 * - `refused`: malformed, stored as a dead letter. The number of records is unknown.
 * - `rejected`: neither accepted nor stored, with the reason. If the body was not read, records and bytes are 0.
 *
 * Bytes are those of the decompressed request in the sender's encoding: `accepted + replayed = landed + dead-lettered`
 * holds for them too, to the byte. A body that was not fully decompressed (broken compression, or above the limit)
 * counts with its received bytes.
 */
const usageOutcomes = ['accepted', 'replayed', 'dead-lettered', 'refused', 'rejected'] as const;
export type UsageOutcome = (typeof usageOutcomes)[number];

/**
 * One row per message and service, dead letter, or report of a receiver. A row depends only on its subject, which its
 * key names: counting a subject again has no effect. Read with FINAL. The retention of telemetry does not apply.
 */
export const usageTable = defineTable({
  name: 'usage',
  summary: 'Accepted, landed, dead-lettered, refused and rejected records by hour, project, key, signal and service',
  retention: 'never',
  engine: 'ReplacingMergeTree',
  columns: {
    tenant_id: 'LowCardinality(String)',
    /** Hour of reception. */
    hour: "DateTime('UTC') CODEC(Delta, ZSTD(1))",
    signal: 'LowCardinality(String)',
    project_id: 'LowCardinality(String)',
    key_id: 'LowCardinality(String)',
    outcome: 'LowCardinality(String)',
    reason: 'LowCardinality(String)',
    /** Service of the landed part; for remote-write the label `job`. */
    service: 'LowCardinality(String)',
    /**
     * Position of the message on the topic of its telemetry signal. Remote-write partitions are stored as in the
     * metrics tables.
     */
    partition: 'UInt16',
    offset: 'UInt64 CODEC(Delta, ZSTD(1))',
    /** ID of the dead letter or report; empty for messages. */
    id: 'String CODEC(ZSTD(1))',
    requests: 'UInt64 CODEC(T64, ZSTD(1))',
    records: 'UInt64 CODEC(T64, ZSTD(1))',
    /** Decompressed bytes in the sender's encoding. */
    bytes: 'UInt64 CODEC(T64, ZSTD(1))',
    landed_records: 'UInt64 CODEC(T64, ZSTD(1))',
    landed_bytes: 'UInt64 CODEC(T64, ZSTD(1))',
  },
  partitionBy: 'toYYYYMM(hour)',
  primaryKey: ['tenant_id', 'hour', 'signal'],
  orderBy: [
    'tenant_id',
    'hour',
    'signal',
    'project_id',
    'key_id',
    'outcome',
    'reason',
    'service',
    'partition',
    'offset',
    'id',
  ],
});
