import { defineTable } from './table.ts';

/**
 * Signed tree heads of the audit chains. Never expired: an old head is what shows that an old record was changed. Heads of
 * several instances over the same records are one row, and over different ones several.
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
    /** One after the other, 64 digits each. */
    subtrees: 'String',
    signed_at: "DateTime64(3, 'UTC')",
    signature: 'String',
    partition: 'UInt16',
    offset: 'UInt64',
  },
  orderBy: ['tenant_id', 'size', 'root', 'key_id'],
});
