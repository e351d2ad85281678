import { frequentInsertSettings, origin, partitionByDayReceived, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

/**
 * Subjects of the counts: all records, those with a field, an attribute or a value inside the body, and attributes beyond
 * the maximum number of individual counts. A value inside an array or map has its path as the key.
 */
export const fieldKinds = ['record', 'field', 'attribute', 'body', 'resource', 'scope', 'other'] as const;
export type FieldKind = (typeof fieldKinds)[number];

/**
 * Number of records with each field or attribute, by hour: one row for each of them and each range of offsets that
 * one batch stored. Always sum. `resolveReference` (`schemas/fields.ts`) resolves the name of a key in searches.
 */
export const fieldsTable = defineTable({
  name: 'fields',
  summary: 'Log records and spans by hour, and by their fields and attributes',
  retention: 'longest',
  shardedBy: 'tenant',
  columns: {
    ...tenancy,
    /** Topic of the records: `otlp.logs` or `otlp.traces`. */
    topic: 'LowCardinality(String)',
    /** Hour of the records' time. */
    hour: "DateTime('UTC') CODEC(Delta, ZSTD(1))",
    kind: 'LowCardinality(String)',
    /** Empty for `record` and `other`. */
    key: 'LowCardinality(String)',
    /**
     * Type character of `attribute_types`, empty for fields. If a record has several attributes with the same key,
     * the first one counts.
     */
    type: 'LowCardinality(String)',
    /** For `other`: the number of attributes, and of values in arrays and maps beyond the limits. */
    records: 'UInt64 CODEC(T64, ZSTD(1))',
    /** Range of the records' times. */
    first_seen: "DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))",
    last_seen: "DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))",
    /** The first record of the range. */
    ...origin,
    /** Offset of the last message of the range; the row counts all messages from `offset` on. */
    last_offset: 'UInt64 CODEC(Delta, ZSTD(1))',
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'topic', 'hour', 'kind', 'key', 'type'],
  settings: frequentInsertSettings,
});
