import type { Documents } from '../../../schemas/ports/documents.ts';
import { leafHashOf } from '../../audit/merkle.ts';
import { type LeafRange, rootsOf } from '../../audit/merkle-proofs.ts';
import { recordsInOrder } from '../../audit/record-pages.ts';
import { ApiError } from '../../kernel/errors.ts';

/** Leaves of a tenant's tree, as the records are now. */
async function* leavesOf(documents: Documents, tenantId: string, size: number): AsyncGenerator<Buffer> {
  for await (const { hash } of recordsInOrder(documents, tenantId, { upTo: size }))
    yield leafHashOf(Buffer.from(hash, 'hex'));
}

/** Nodes of a proof in a tree of `size` leaves. All records below it are read, page by page. */
export const proofOf = (
  documents: Documents,
  tenantId: string,
  size: number,
  ranges: readonly LeafRange[],
): Promise<Buffer[]> =>
  rootsOf(ranges, leavesOf(documents, tenantId, size)).catch((cause: unknown) => {
    if (cause instanceof RangeError) throw notAsSigned(cause);
    throw cause;
  });

/** There is nothing to prove: the records are not those that were signed. */
export const notAsSigned = (cause?: unknown): ApiError =>
  new ApiError(
    'CONFLICT',
    'the records are not those that were signed, so there is no proof: GET /api/evidence/verify names the first break',
    { cause },
  );
