import { partitionByDayReceived } from './parts.ts';
import { defineTable } from './table.ts';

/**
 * Index of the dead-letter topic for listing; payloads stay on the bus and are found by partition and offset. One row
 * per dead letter (its first chunk).
 */
export const deadLettersTable = defineTable({
  name: 'dead_letters',
  summary: 'Dead letters',
  retention: 'longest',
  engine: 'ReplacingMergeTree',
  columns: {
    tenant_id: 'LowCardinality(String)',
    id: 'String',
    project_id: 'LowCardinality(String)',
    key_id: 'LowCardinality(String)',
    signal: 'LowCardinality(String)',
    origin: 'LowCardinality(String)',
    kind: 'LowCardinality(String)',
    reason: 'LowCardinality(String)',
    message: 'String',
    position: 'Nullable(UInt64)',
    received_at: "DateTime64(3, 'UTC')",
    source: 'String',
    size: 'UInt64',
    cut: 'Bool',
    chunks: 'UInt32',
    partition: 'UInt16',
    /** Offset of the first chunk on the dead-letter topic. */
    offset: 'UInt64',
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'received_at', 'id'],
});

export const deadLetterMarksTable = defineTable({
  name: 'dead_letter_marks',
  summary: 'Replayed or discarded dead letters',
  retention: 'longest',
  /**
   * Marks are newer than the dead letters that they mark. Therefore they expire later, and no listed dead letter
   * loses its mark.
   */
  ageColumn: 'marked_at',
  engine: 'ReplacingMergeTree',
  columns: {
    tenant_id: 'LowCardinality(String)',
    id: 'String',
    outcome: 'LowCardinality(String)',
    marked_at: "DateTime64(3, 'UTC')",
    actor: 'String',
    partition: 'UInt16',
    offset: 'UInt64',
  },
  orderBy: ['tenant_id', 'id'],
});
