import { evidenceHeadsTable } from '../schemas/tables/evidence-heads.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

/** Signed heads of the audit chains, stored where access to the document store cannot change them. */
export const evidenceHeads = defineValueSink({
  topic: topics.evidenceHeads,
  table: evidenceHeadsTable,
  unprocessable: 'drop',
  row: ({ tenantId, size, root, keyId, lastHash, subtrees, signedAt, signature }) => ({
    tenant_id: tenantId,
    size,
    root,
    key_id: keyId,
    last_hash: lastHash,
    subtrees: subtrees.join(''),
    signed_at: signedAt,
    signature,
  }),
});
