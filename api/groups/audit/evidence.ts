import { z } from 'zod';
import type { Documents } from '../../../schemas/ports/documents.ts';
import { Actor, auditRecords } from '../../../schemas/resources/audit-record.ts';
import { ApiError, createFieldError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { evidenceBreakKinds, findBrokenEvidence } from '../siem/case-evidence.ts';
import { hashLeaf } from './chain/merkle.ts';
import {
  computeConsistencyRanges,
  computeInclusionRanges,
  computeInclusionRoot,
  computeRoots,
  type LeafRange,
} from './chain/merkle-proofs.ts';
import { readRecordsInOrder, readStoredEnd } from './chain/record-pages.ts';
import { breakKinds } from './chain/verification.ts';
import { verifyChain } from './chain/verify-chain.ts';
import { HeadView, toHeadView } from './views.ts';

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
    const newestSigned = (await evidence.heads.listNewest(tenantId)).find((head) => evidence.key.isSignedBy(head));
    const head = newestSigned ?? (await evidence.signer.sign(tenantId));
    const { sequence } = await readStoredEnd(documents, tenantId);
    if (since !== undefined && since > (head?.size ?? 0))
      throw createFieldError('since', `is larger than the newest tree head, which covers ${head?.size ?? 0} records`);
    const proof =
      since === undefined || head === undefined
        ? undefined
        : await computeProof(documents, tenantId, head.size, computeConsistencyRanges(since, head.size));
    return {
      head: head === undefined ? null : toHeadView(head),
      publicKey: evidence.key.publicKey,
      records: sequence,
      consistency:
        proof === undefined || since === undefined ? null : { since, proof: proof.map((node) => node.toString('hex')) },
    };
  },
});

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
    const record = await documents.forTenant(tenantId).collection(auditRecords).find(id);
    if (record === undefined) throw createNotFoundError('audit record');
    const index = record.sequence - 1;
    const newestSigned = (await evidence.heads.listNewest(tenantId)).find((head) => evidence.key.isSignedBy(head));
    // Sign a record that is not signed yet.
    const head =
      newestSigned !== undefined && newestSigned.size > index ? newestSigned : await evidence.signer.sign(tenantId);
    if (head === undefined || head.size <= index) throw createMismatchError();
    const proof = await computeProof(documents, tenantId, head.size, computeInclusionRanges(index, head.size));
    const leaf = hashLeaf(Buffer.from(record.hash, 'hex'));
    const root = computeInclusionRoot({ index, size: head.size }, leaf, proof)?.toString('hex');
    if (root !== head.root) throw createMismatchError();
    return {
      recordId: id,
      hash: record.hash,
      index,
      proof: proof.map((node) => node.toString('hex')),
      head: toHeadView(head),
      publicKey: evidence.key.publicKey,
    };
  },
});

export const verifyEvidence = defineOperation({
  method: 'GET',
  path: '/api/evidence/verify',
  operationId: 'verifyEvidence',
  summary: 'Verify the whole audit chain, every signed tree head and the evidence of cases; reports the first break',
  role: 'auditor',
  limit: { rate: 1, burst: 10 },
  response: z.strictObject({
    valid: z.boolean(),
    firstBreak: z
      .strictObject({
        kind: z.enum([...breakKinds, ...evidenceBreakKinds]),
        sequence: z.int().describe('Sequence number of the first affected record'),
        message: z.string(),
      })
      .nullable(),
    records: z.int().describe('Records verified, up to the first break'),
    erasedDetails: z.int().describe('Records whose details were erased, each by a signed erasure'),
    erasures: z
      .array(
        z.strictObject({
          sequence: z.int().describe('Sequence number of the record of the erasure'),
          at: z.iso.datetime(),
          actor: Actor.describe('Who erased the details'),
          subject: z.string().nullable().describe('Id of the user whose details were erased; null for all users'),
          details: z.int().describe('Records whose missing details it explains'),
          signed: z.boolean().describe('Whether the installation signed it; an unsigned erasure explains nothing'),
        }),
      )
      .describe('All recorded erasures, in the order of the chain'),
    heads: z.int().describe('Signed tree heads verified, up to the first break'),
    lastHead: HeadView.nullable().describe('The last signed tree head that was verified'),
    unsigned: z.int().describe('Records that no signed tree head covers yet; they are signed within a minute'),
    checkedAt: z.iso.datetime(),
  }),
  async handler({ caller: { tenantId } }, { documents, evidence, clock }) {
    const stores = { documents, clock, heads: evidence.heads, key: evidence.key };
    const verification = await verifyChain(stores, tenantId);
    const { records, erasedDetails, erasures, heads, lastHead, extent } = verification;
    const firstBreak = verification.firstBreak ?? (await findBrokenEvidence(documents, tenantId));
    return {
      valid: firstBreak === undefined,
      firstBreak: firstBreak ?? null,
      records,
      erasedDetails,
      erasures: [...erasures],
      heads,
      lastHead: lastHead === undefined ? null : toHeadView(lastHead),
      unsigned: Math.max(0, extent.upTo - (extent.newestHead?.size ?? 0)),
      checkedAt: new Date(clock.now()).toISOString(),
    };
  },
});

/** Yields the leaves of a tenant's tree, computed from the current records. */
async function* readLeaves(documents: Documents, tenantId: string, size: number): AsyncGenerator<Buffer> {
  for await (const { hash } of readRecordsInOrder(documents, tenantId, { upTo: size }))
    yield hashLeaf(Buffer.from(hash, 'hex'));
}

/** Computes the nodes of a proof in a tree of `size` leaves. Reads all records of the tree, page by page. */
const computeProof = (
  documents: Documents,
  tenantId: string,
  size: number,
  ranges: readonly LeafRange[],
): Promise<Buffer[]> =>
  computeRoots(ranges, readLeaves(documents, tenantId, size)).catch((cause: unknown) => {
    if (cause instanceof RangeError) throw createMismatchError(cause);
    throw cause;
  });

/** Creates the error for records that differ from the signed ones, so that there is no proof. */
const createMismatchError = (cause?: unknown): ApiError =>
  new ApiError(
    'CONFLICT',
    'the records differ from the signed ones, so there is no proof: GET /api/evidence/verify returns the first break',
    { cause },
  );
