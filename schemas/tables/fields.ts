import { byDayReceived, manyInserts, origin, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

/** What a row counts: all records, those that have a field or attribute, and attributes that were too many to be counted one by one. */
export const fieldKinds = ['record', 'field', 'attribute', 'resource', 'scope', 'other'] as const;
export type FieldKind = (typeof fieldKinds)[number];

/**
 * Records that have a field or attribute, by hour: one row for each of them and each range of offsets that landed at once. Always sums.
 * What a key is called in searches is `referenceOf` (`schemas/records/fields.ts`).
 */
export const fieldsTable = defineTable({
  name: 'fields',
  summary: 'Log records and spans by hour, by the fields and attributes that they have',
  retention: 'longest',
  liesBy: 'tenant',
  columns: {
    ...tenancy,
    /** Of the records: `otlp.logs` or `otlp.traces`. */
    topic: 'LowCardinality(String)',
    /** Of the records' time. */
    hour: "DateTime('UTC') CODEC(Delta, ZSTD(1))",
    kind: 'LowCardinality(String)',
    /** Empty for `record` and `other`. */
    key: 'LowCardinality(String)',
    /** The letter of `attribute_types`, empty for fields. Of several attributes of one key in a record the first counts. */
    type: 'LowCardinality(String)',
    /** Of `other`: attributes. */
    records: 'UInt64 CODEC(T64, ZSTD(1))',
    /** Times of the records. */
    first_seen: "DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))",
    last_seen: "DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))",
    /** The first record of the range. */
    ...origin,
    /** Of the last message of the range; the row counts all from `offset` on. */
    last_offset: 'UInt64 CODEC(Delta, ZSTD(1))',
  },
  partitionBy: byDayReceived,
  orderBy: ['tenant_id', 'topic', 'hour', 'kind', 'key', 'type'],
  settings: manyInserts,
});
