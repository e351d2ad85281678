/** Columns that several tables share, with the reason for their form. */

/** Whose row it is. */
export const tenancy = {
  tenant_id: 'LowCardinality(String)',
  project_id: 'LowCardinality(String)',
} as const;

/** Where on the bus the row came from: the landed range is checked by it, and ids are made of it. `ordinal` counts records within a message. */
export const origin = {
  received_at: "DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))",
  partition: 'UInt16',
  offset: 'UInt64 CODEC(Delta, ZSTD(1))',
} as const;
/**
 * The same for values of derived topics, several of which may land in one table; and which message of its emitter the row came in: one
 * that lies on the bus twice lands once. The emitter is empty for what no processor emitted.
 */
export const landed = {
  topic: 'LowCardinality(String)',
  ...origin,
  emitter: 'LowCardinality(String)',
  emitted_offset: 'UInt64 CODEC(Delta, ZSTD(1))',
  emitted_part: 'UInt64 CODEC(Delta, ZSTD(1))',
} as const;
/** OTLP and remote-write land in the same tables from two topics: remote-write's partitions are stored with this added. */
export const remoteWritePartitions = 32_768;
export const ordinal = { ordinal: 'UInt32 CODEC(Delta, ZSTD(1))' } as const;

/**
 * Attributes as text, beside one letter for each in the same order that tells the type it came in:
 * `s` string, `i` integer, `d` double, `b` boolean, `j` array or map (as JSON), `y` bytes (base64), `n` empty.
 */
export const attributes = {
  attributes: 'Map(LowCardinality(String), String) CODEC(ZSTD(1))',
  attribute_types: 'LowCardinality(String)',
} as const;

/** The scope that a row came in. Its attributes as JSON, sorted by key, empty for none: few scopes have any. */
export const scope = {
  scope_name: 'LowCardinality(String)',
  scope_version: 'LowCardinality(String)',
  scope_attributes: 'LowCardinality(String)',
  scope_dropped_attributes: 'UInt32',
  scope_schema_url: 'LowCardinality(String)',
} as const;

export const nanoseconds = "DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1))";

/**
 * For tables that get an insert a second. Merge about 16 parts at once rather than 5, so that a row is merged again less
 * often: merging costs more than inserting. An insert writes all columns to one file: a file and a buffer for each cost
 * as much as all else that it does.
 */
export const manyInserts = { merge_selector_base: 16, min_level_for_wide_part: 1 } as const;

/** Partitions are days of reception: a sender's wrong clock must not scatter an insert over hundreds of partitions. */
export const byDayReceived = 'toYYYYMMDD(received_at)';

/** For tables whose sorting key is an identity on which every other column depends: any of the merged rows' values is the value. */
export const identityDecides = { allow_dimensions_outside_sorting_key: 1 } as const;
