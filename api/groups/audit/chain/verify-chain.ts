import type { EvidenceHead } from '../../../../schemas/evidence.ts';
import type { Clock } from '../../../../schemas/ports/clock.ts';
import type { Documents } from '../../../../schemas/ports/documents.ts';
import type { HeadStore, PublicEvidenceKey } from '../../../../schemas/ports/evidence.ts';
import type { AuditRecord } from '../../../../schemas/resources/audit-record.ts';
import { findNewestSequence, readRecordsInOrder, readStoredEnd } from './record-pages.ts';
import { ChainVerifier, type Findings } from './verification.ts';

export interface EvidenceStores {
  readonly documents: Documents;
  readonly heads: HeadStore;
  readonly key: PublicEvidenceKey;
  readonly clock: Clock;
}

/** Records and heads in the order of the verification. */
export type ChainItem = { readonly record: AuditRecord } | { readonly head: EvidenceHead };

/** The extent of a chain at one point in time: everything that exists then, and nothing that is appended later. */
export interface ChainExtent {
  readonly end: { readonly sequence: number; readonly hash: string };
  /** The last record, whether in the head document or not */
  readonly upTo: number;
  readonly newestHead: EvidenceHead | undefined;
  /** Size of the largest head, whatever key signed it */
  readonly headsUpTo: number;
}

/**
 * Reads heads, then records, then the end: a head is signed after its records, and the end is stored with its record.
 * Even during writes, a valid chain therefore has at least the records of its newest head, and its end.
 */
export const readExtent = async (
  { documents, heads, key }: Omit<EvidenceStores, 'clock'>,
  tenantId: string,
): Promise<ChainExtent> => {
  const newestHeads = await heads.listNewest(tenantId);
  const sequence = await findNewestSequence(documents, tenantId);
  const end = await readStoredEnd(documents, tenantId);
  return {
    end,
    upTo: Math.max(sequence, end.sequence),
    newestHead: newestHeads.find((head) => key.isSignedBy(head)),
    headsUpTo: newestHeads[0]?.size ?? 0,
  };
};

/** The findings, and the extent of the chain at that time. */
export type ChainVerification = Findings & { readonly extent: ChainExtent };

/** Yields the records, and each head after the last record that it covers; heads that cover more records than exist come last. */
export async function* readChainItems(
  { documents, heads }: Pick<EvidenceStores, 'documents' | 'heads'>,
  tenantId: string,
  { upTo, headsUpTo }: ChainExtent,
): AsyncGenerator<ChainItem> {
  const headIterator = heads.listBySize(tenantId, 0, Math.max(upTo, headsUpTo))[Symbol.asyncIterator]();
  let head = await headIterator.next();
  let recordCount = 0;
  for await (const record of readRecordsInOrder(documents, tenantId, { upTo })) {
    yield { record };
    recordCount++;
    for (; !head.done && head.value.size <= recordCount; head = await headIterator.next()) yield { head: head.value };
  }
  for (; !head.done; head = await headIterator.next()) yield { head: head.value };
}

/**
 * Verifies a tenant's whole chain: its hashes, its details and every signed tree head. Memory is constant, and other
 * requests are served in between. Records may be appended in the meantime.
 */
export const verifyChain = async (stores: EvidenceStores, tenantId: string): Promise<ChainVerification> => {
  const { documents, key, clock } = stores;
  const extent = await readExtent(stores, tenantId);
  const verification = new ChainVerifier({ tenantId, key, now: clock.now() });
  for await (const item of readChainItems(stores, tenantId, extent)) {
    if ('head' in item) verification.addHead(item.head);
    else verification.addRecord(item.record);
  }
  // Details may have been erased since the extent was read.
  if (verification.hasMissingErasures)
    for await (const record of readRecordsInOrder(documents, tenantId, { after: extent.upTo }))
      verification.addErasure(record);
  return { ...verification.finish(extent.end), extent };
};
