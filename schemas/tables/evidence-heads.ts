import { defineTable } from './table.ts';

/**
 * Signed tree heads of the audit chains. They never expire: an old head proves that an old record was changed. Heads
 * of several instances share a row if they cover the same records; otherwise each has its own row.
 */
export const evidenceHeadsTable = defineTable({
  name: 'evidence_heads',
  summary: 'Signed tree heads of the audit chains',
  retention: 'never',
  engine: 'ReplacingMergeTree',
  columns: {
    tenant_id: 'LowCardinality(String)',
    size: 'UInt64',
    root: 'String',
    key_id: 'LowCardinality(String)',
    last_hash: 'String',
    /** Concatenated, 64 digits each. */
    subtrees: 'String',
    signed_at: "DateTime64(3, 'UTC')",
    signature: 'String',
    partition: 'UInt16',
    offset: 'UInt64',
  },
  orderBy: ['tenant_id', 'size', 'root', 'key_id'],
});
