import { z } from 'zod';
import { auditRecords } from '../../../schemas/resources/audit-record.ts';
import { leafHashOf } from '../../audit/merkle.ts';
import { inclusionRanges, rootOfInclusion } from '../../audit/merkle-proofs.ts';
import { notFound } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { notAsSigned, proofOf } from './leaves.ts';
import { HeadView, headViewOf } from './views.ts';

export const proveAuditRecord = defineOperation({
  method: 'GET',
  path: '/api/evidence/proofs/{id}',
  operationId: 'proveAuditRecord',
  summary: 'Prove that an audit record is in the chain, under the newest signed tree head',
  role: 'auditor',
  limit: { rate: 5, burst: 20 },
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  response: z.strictObject({
    recordId: z.string(),
    hash: z.string().describe('Hash of the record; its bytes are the leaf'),
    index: z.int().describe('Index of the leaf, from 0'),
    proof: z.array(z.string()).describe('Nodes of the inclusion proof (RFC 9162), from the leaf upwards'),
    head: HeadView,
    publicKey: z.string().describe('Ed25519, PEM'),
  }),
  async handler({ caller: { tenantId }, params: { id } }, { documents, evidence }) {
    const record = await documents.of(tenantId).collection(auditRecords).find(id);
    if (record === undefined) throw notFound('audit record');
    const index = record.sequence - 1;
    const known = (await evidence.heads.newest(tenantId)).find((head) => evidence.key.signed(head));
    // A record of a moment ago is signed for the asking.
    const head = known !== undefined && known.size > index ? known : await evidence.signer.sign(tenantId);
    if (head === undefined || head.size <= index) throw notAsSigned();
    const proof = await proofOf(documents, tenantId, head.size, inclusionRanges(index, head.size));
    const leaf = leafHashOf(Buffer.from(record.hash, 'hex'));
    const root = rootOfInclusion({ index, size: head.size }, leaf, proof)?.toString('hex');
    if (root !== head.root) throw notAsSigned();
    return {
      recordId: id,
      hash: record.hash,
      index,
      proof: proof.map((node) => node.toString('hex')),
      head: headViewOf(head),
      publicKey: evidence.key.publicKey,
    };
  },
});
