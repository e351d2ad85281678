import {
  attributes,
  bodyValues,
  frequentInsertSettings,
  nanosecondType,
  ordinal,
  origin,
  partitionByDayReceived,
  scope,
  tenancy,
} from './parts.ts';
import {
  attributeIndex,
  bodyIndex,
  bodyValueIndex,
  indexesBuiltByInserts,
  resourceIndex,
  timeIndex,
  traceIndexes,
} from './search.ts';
import { buildUnusualWordsSql } from './search-text.ts';
import { defineTable } from './table.ts';

/**
 * The sorting key omits the exact time. Rows of one resource therefore stay adjacent, and a merge moves whole runs of
 * rows instead of single rows.
 */
const sortingKey = ['tenant_id', 'toStartOfTenMinutes(timestamp)', 'service', 'resource_id'] as const;

/** One row per log record. Resource attributes are in `resources`, by `resource_id`. */
export const logsTable = defineTable({
  name: 'logs',
  summary: 'Log records',
  retention: 'logs',
  shardedBy: 'tenant',
  columns: {
    ...tenancy,
    ...origin,
    ...ordinal,
    /** The record's time, or else the observed time, or else the reception time. */
    timestamp: nanosecondType,
    observed_timestamp: nanosecondType,
    service: 'LowCardinality(String)',
    resource_id: 'UInt64',
    ...scope,
    severity_number: 'UInt8',
    severity_text: 'LowCardinality(String)',
    event_name: 'LowCardinality(String)',
    /** Text of a string body; JSON of other bodies (`body_type` as in `attribute_types`). */
    body: 'String CODEC(ZSTD(1))',
    /** Text of the body's words (`search-text.ts`); empty if they are those of `lower(body)`, as for most bodies. */
    body_words: `String DEFAULT ${buildUnusualWordsSql('body')} CODEC(ZSTD(1))`,
    body_type: 'LowCardinality(String)',
    ...bodyValues,
    ...attributes,
    dropped_attributes: 'UInt32',
    trace_id: 'FixedString(16)',
    span_id: 'FixedString(8)',
    flags: 'UInt32',
  },
  partitionBy: partitionByDayReceived,
  primaryKey: sortingKey,
  orderBy: sortingKey,
  indexes: { ...bodyIndex, ...attributeIndex, ...bodyValueIndex, ...traceIndexes, ...resourceIndex, ...timeIndex },
  settings: { ...frequentInsertSettings, exclude_materialize_skip_indexes_on_merge: indexesBuiltByInserts.join(', ') },
});
