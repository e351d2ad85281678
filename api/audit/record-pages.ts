import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Documents, Filter, Stored } from '../../schemas/ports/documents.ts';
import {
  type AuditRecord,
  afterAuditRecord,
  auditHeadId,
  auditHeads,
  auditRecords,
} from '../../schemas/resources/audit-record.ts';
import { chainStart } from './chain.ts';

export type StoredRecord = AuditRecord & Stored;

/** Records of a chain, `after` and `upTo` being sequences. */
export interface Span {
  readonly after?: number;
  readonly upTo?: number;
}

/** Few enough that reading and hashing them does not delay other requests. */
const pageRecords = 250;
const newestPossible = 999_999_999_999;

/** A tenant's records in the order of the chain, page by page; others run in between. */
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

/** The sequence of the newest record there is; 0 without any. */
export const newestSequence = async (documents: Documents, tenantId: string): Promise<number> => {
  const records = documents.of(tenantId).collection(auditRecords);
  const filter = { id: { $lt: afterAuditRecord(newestPossible) } };
  const { items } = await records.list({ filter, sort: { id: -1 }, limit: 1 });
  return items[0]?.sequence ?? 0;
};

/** The end of the chain as its head document notes it. */
export const notedEnd = async (documents: Documents, tenantId: string): Promise<{ sequence: number; hash: string }> => {
  const head = await documents.of(tenantId).collection(auditHeads).find(auditHeadId);
  return { sequence: head?.sequence ?? 0, hash: head?.hash ?? chainStart };
};
