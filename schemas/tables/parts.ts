/** Columns that several tables share, with the reasons for their types. */

/** Owner of a row. */
export const tenancy = {
  tenant_id: 'LowCardinality(String)',
  project_id: 'LowCardinality(String)',
} as const;

/**
 * Position of the row's message on the bus, which identifies the stored range and is part of IDs. `ordinal` counts records
 * within a message.
 */
export const origin = {
  received_at: "DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))",
  partition: 'UInt16',
  offset: 'UInt64 CODEC(Delta, ZSTD(1))',
} as const;
/**
 * Position of a value of a derived topic; several topics may land in one table. Also the emitter's message of the row,
 * so that a message that is on the bus twice lands once. The emitter is empty for values without a processor.
 */
export const landedPosition = {
  topic: 'LowCardinality(String)',
  ...origin,
  emitter: 'LowCardinality(String)',
  emitted_offset: 'UInt64 CODEC(Delta, ZSTD(1))',
  emitted_part: 'UInt64 CODEC(Delta, ZSTD(1))',
} as const;
/**
 * OTLP and remote-write land in the same tables from two topics. Remote-write partitions are stored with this offset.
 */
export const remoteWritePartitions = 32_768;
export const ordinal = { ordinal: 'UInt32 CODEC(Delta, ZSTD(1))' } as const;

/**
 * Attributes as text, with one type character each, in the same order: `s` string, `i` integer, `d` double, `b`
 * boolean, `j` array or map (as JSON), `y` bytes (base64), `n` empty.
 *
 * In log records and in spans with their events and links, the values inside arrays and maps follow the attributes: keys
 * are their paths (`records/nested-values.ts`), and type characters are uppercase. A mark ends the types of such rows.
 */
export const attributes = {
  attributes: 'Map(LowCardinality(String), String) CODEC(ZSTD(1))',
  attribute_types: 'LowCardinality(String)',
} as const;

/** Distance of the type character of a value inside an array or map to that of an attribute. */
export const nestedTypeOffset = 0x20;
/**
 * Last character of the types of a row with values inside arrays and maps: `several` if some key has several values. The
 * engine compares it once per distinct text of types, so that other rows take no time.
 */
export const nestedMarks = { several: '+', single: '-' } as const;

/** Values inside arrays and maps of a body: their paths and texts, and types as in `attribute_types`. */
export const bodyValues = {
  body_values: 'Map(LowCardinality(String), String) CODEC(ZSTD(1))',
  body_value_types: 'LowCardinality(String)',
} as const;

/**
 * Values inside arrays and maps of a resource's attributes, with lowercase type characters. Merges preserve them if a
 * process of an earlier version has stored the same resource without them.
 */
export const nestedResourceValues = {
  nested_keys: 'SimpleAggregateFunction(max, Array(String))',
  nested_values: 'SimpleAggregateFunction(max, Array(String))',
  nested_types: 'SimpleAggregateFunction(max, String)',
} as const;

/** Scope of a row. Its attributes are JSON sorted by key, empty for none: few scopes have attributes. */
export const scope = {
  scope_name: 'LowCardinality(String)',
  scope_version: 'LowCardinality(String)',
  scope_attributes: 'LowCardinality(String)',
  scope_dropped_attributes: 'UInt32',
  scope_schema_url: 'LowCardinality(String)',
} as const;

export const nanosecondType = "DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1))";

/**
 * Settings of tables with an insert per second. Merges combine about 16 parts instead of 5, so that a row is merged
 * less often: merging costs more than inserting. An insert writes all columns to one file: a file and a buffer per
 * column would double its cost.
 */
export const frequentInsertSettings = { merge_selector_base: 16, min_level_for_wide_part: 1 } as const;

/** Partitions are days of reception: a sender's wrong clock must not scatter an insert over hundreds of partitions. */
export const partitionByDayReceived = 'toYYYYMMDD(received_at)';

/** For tables whose sorting key determines every other column: any value among the merged rows is correct. */
export const identityKeySettings = { allow_dimensions_outside_sorting_key: 1 } as const;

/** For partitions that get few rows once their day is over: their parts become one, which reads with FINAL do not merge. */
export const mergedPartitionSettings = {
  min_age_to_force_merge_seconds: 3_600,
  min_age_to_force_merge_on_partition_only: 1,
} as const;
