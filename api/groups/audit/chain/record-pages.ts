import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Documents, Filter, StoredMetadata } from '../../../../schemas/ports/documents.ts';
import {
  type AuditRecord,
  auditHeadId,
  auditHeads,
  auditRecords,
  buildAuditUpperBound,
} from '../../../../schemas/resources/audit-record.ts';
import { chainStart } from './chain.ts';

export type StoredRecord = AuditRecord & StoredMetadata;

/** A range of records of a chain; `after` and `upTo` are sequences. */
export interface SequenceRange {
  readonly after?: number;
  readonly upTo?: number;
}

/** Small enough that reading and hashing a page does not delay other requests. */
const recordsPerPage = 250;
const maxSequence = 999_999_999_999;

/** Yields a tenant's records in the order of the chain, page by page; other work runs in between. */
export async function* readRecordsInOrder(
  documents: Documents,
  tenantId: string,
  { after = 0, upTo = maxSequence }: SequenceRange = {},
  filter: Filter = {},
): AsyncGenerator<StoredRecord> {
  const records = documents.forTenant(tenantId).collection(auditRecords);
  const endId = buildAuditUpperBound(upTo);
  let last = buildAuditUpperBound(after);
  while (true) {
    const { items, nextCursor } = await records.list({
      filter: { ...filter, id: { $gt: last, $lt: endId } },
      sort: { id: 1 },
      limit: recordsPerPage,
    });
    yield* items;
    const end = items.at(-1);
    if (nextCursor === null || end === undefined) return;
    last = end.id;
    await yieldToEventLoop();
  }
}

/** Returns the sequence of the newest record; 0 without records. */
export const findNewestSequence = async (documents: Documents, tenantId: string): Promise<number> => {
  const records = documents.forTenant(tenantId).collection(auditRecords);
  const filter = { id: { $lt: buildAuditUpperBound(maxSequence) } };
  const { items } = await records.list({ filter, sort: { id: -1 }, limit: 1 });
  return items[0]?.sequence ?? 0;
};

/** Returns the end of the chain as stored in its head document. */
export const readStoredEnd = async (
  documents: Documents,
  tenantId: string,
): Promise<{ sequence: number; hash: string }> => {
  const head = await documents.forTenant(tenantId).collection(auditHeads).find(auditHeadId);
  return { sequence: head?.sequence ?? 0, hash: head?.hash ?? chainStart };
};
