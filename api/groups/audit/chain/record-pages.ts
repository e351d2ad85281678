import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Documents, Filter, Stored } from '../../../../schemas/ports/documents.ts';
import {
  type AuditRecord,
  afterAuditRecord,
  auditHeadId,
  auditHeads,
  auditRecords,
} from '../../../../schemas/resources/audit-record.ts';
import { chainStart } from './chain.ts';

export type StoredRecord = AuditRecord & Stored;

/** A range of records of a chain; `after` and `upTo` are sequences. */
export interface Span {
  readonly after?: number;
  readonly upTo?: number;
}

/** Small enough that reading and hashing a page does not delay other requests. */
const pageRecords = 250;
const newestPossible = 999_999_999_999;

/** Yields a tenant's records in the order of the chain, page by page; other work runs in between. */
export async function* recordsInOrder(
  documents: Documents,
  tenantId: string,
  { after = 0, upTo = newestPossible }: Span = {},
  filter: Filter = {},
): AsyncGenerator<StoredRecord> {
  const records = documents.of(tenantId).collection(auditRecords);
  const endId = afterAuditRecord(upTo);
  let last = afterAuditRecord(after);
  while (true) {
    const { items, nextCursor } = await records.list({
      filter: { ...filter, id: { $gt: last, $lt: endId } },
      sort: { id: 1 },
      limit: pageRecords,
    });
    yield* items;
    const end = items.at(-1);
    if (nextCursor === null || end === undefined) return;
    last = end.id;
    await yieldToEventLoop();
  }
}

/** Returns the sequence of the newest record; 0 without records. */
export const newestSequence = async (documents: Documents, tenantId: string): Promise<number> => {
  const records = documents.of(tenantId).collection(auditRecords);
  const filter = { id: { $lt: afterAuditRecord(newestPossible) } };
  const { items } = await records.list({ filter, sort: { id: -1 }, limit: 1 });
  return items[0]?.sequence ?? 0;
};

/** Returns the end of the chain as stored in its head document. */
export const notedEnd = async (documents: Documents, tenantId: string): Promise<{ sequence: number; hash: string }> => {
  const head = await documents.of(tenantId).collection(auditHeads).find(auditHeadId);
  return { sequence: head?.sequence ?? 0, hash: head?.hash ?? chainStart };
};
