import { z } from 'zod';
import { consistencyRanges } from '../../audit/merkle-proofs.ts';
import { notedEnd } from '../../audit/record-pages.ts';
import { invalid } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { proofOf } from './leaves.ts';
import { HeadView, headViewOf } from './views.ts';

export const getEvidenceHead = defineOperation({
  method: 'GET',
  path: '/api/evidence/head',
  operationId: 'getEvidenceHead',
  summary: 'Get the newest signed tree head of the audit chain, and the public key to verify it',
  role: 'auditor',
  limit: { rate: 5, burst: 20 },
  query: z.strictObject({
    since: z.coerce
      .number()
      .int()
      .min(1)
      .max(999_999_999_999)
      .optional()
      .describe('Size of an older tree head; the response proves that the newest one extends it'),
  }),
  response: z.strictObject({
    head: HeadView.nullable().describe('Null while there are no records, or if all tree heads were lost'),
    publicKey: z.string().describe('Ed25519, PEM'),
    records: z.int().describe('Number of records in the chain'),
    consistency: z
      .strictObject({
        since: z.int(),
        proof: z.array(z.string()).describe('Nodes of the consistency proof (RFC 9162), in order'),
      })
      .nullable(),
  }),
  async handler({ caller: { tenantId }, query: { since } }, { evidence, documents }) {
    const newest = (await evidence.heads.newest(tenantId)).find((head) => evidence.key.signed(head));
    const head = newest ?? (await evidence.signer.sign(tenantId));
    const { sequence } = await notedEnd(documents, tenantId);
    if (since !== undefined && since > (head?.size ?? 0))
      throw invalid('since', `is larger than the newest tree head, which covers ${head?.size ?? 0} records`);
    const proof =
      since === undefined || head === undefined
        ? undefined
        : await proofOf(documents, tenantId, head.size, consistencyRanges(since, head.size));
    return {
      head: head === undefined ? null : headViewOf(head),
      publicKey: evidence.key.publicKey,
      records: sequence,
      consistency:
        proof === undefined || since === undefined ? null : { since, proof: proof.map((node) => node.toString('hex')) },
    };
  },
});
