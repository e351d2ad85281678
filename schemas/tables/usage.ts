import { defineTable } from './table.ts';

/**
 * What became of what tenants sent: the ledger. `accepted + replayed = landed + dead-lettered`, for each hour of
 * reception, once nothing is under way.
 * - `accepted`: durable on the bus. Its landed part is told by service, beside it.
 * - `replayed`: a dead letter of a consumer that was published again; its records were accepted before.
 * - `dead-lettered`: could not be landed; `id` is the dead letter's.
 * - `refused`: malformed, kept as a dead letter. Records are not known.
 * - `rejected`: not taken and not kept, with the reason. Where the body was not read, records and bytes are 0.
 *
 * Bytes are those of the request as its sender encoded it, once decompressed: `accepted + replayed = landed + dead-lettered`
 * holds for them too, to the byte. A body that was not decompressed whole (its compression is broken, or it is above the
 * cap) counts with the bytes that were received.
 */
const usageOutcomes = ['accepted', 'replayed', 'dead-lettered', 'refused', 'rejected'] as const;
export type UsageOutcome = (typeof usageOutcomes)[number];

/**
 * One row a message and service, or dead letter, or report of a receiver. A row is a function of what it counts, and its key names that:
 * counted twice it is there once. Read it with FINAL. Retention of telemetry leaves it alone.
 */
export const usageTable = defineTable({
  name: 'usage',
  summary: 'Accepted, landed, dead-lettered, refused and rejected records by hour, project, key, signal and service',
  retention: 'never',
  engine: 'ReplacingMergeTree',
  columns: {
    tenant_id: 'LowCardinality(String)',
    /** Of reception. */
    hour: "DateTime('UTC') CODEC(Delta, ZSTD(1))",
    signal: 'LowCardinality(String)',
    project_id: 'LowCardinality(String)',
    key_id: 'LowCardinality(String)',
    outcome: 'LowCardinality(String)',
    reason: 'LowCardinality(String)',
    /** Of the landed part; for remote-write the label `job`. */
    service: 'LowCardinality(String)',
    /** Where the message lay on the topic of its signal; remote-write's partitions as in the metrics' tables. */
    partition: 'UInt16',
    offset: 'UInt64 CODEC(Delta, ZSTD(1))',
    /** Of the dead letter or report; empty for messages. */
    id: 'String CODEC(ZSTD(1))',
    requests: 'UInt64 CODEC(T64, ZSTD(1))',
    records: 'UInt64 CODEC(T64, ZSTD(1))',
    /** As the sender encoded them, decompressed. */
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
