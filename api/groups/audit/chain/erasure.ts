import type { Clock } from '../../../../schemas/ports/clock.ts';
import type { Documents } from '../../../../schemas/ports/documents.ts';
import type { EvidenceKey } from '../../../../schemas/ports/evidence.ts';
import { type Actor, auditRecords } from '../../../../schemas/resources/audit-record.ts';
import { appendRecords } from './chain.ts';
import { erasureAction, everybodyId } from './erasures.ts';
import { readRecordsInOrder } from './record-pages.ts';

export interface Erasure {
  readonly tenantId: string;
  /**
   * Id of a user or service account: erases the details of their actions, and of actions on them. Erases all details if
   * omitted.
   */
  readonly subjectId?: string;
  /**
   * Actor that requests the erasure. The name is not stored, because this record remains when all details are erased.
   */
  readonly actor: { readonly type: Actor['type']; readonly id: string };
  readonly requestId: string;
}

/** Records erased between two ticks of the event loop */
const eraseBatchSize = 100;

/**
 * Removes the details (names, addresses, differences) from audit records and returns the number of records. The records
 * remain, and the chain verifies without the details. The erasure is recorded first, and signed; calling again
 * completes an interrupted erasure.
 */
export const eraseDetails = async (
  { documents, clock, key }: { readonly documents: Documents; readonly clock: Clock; readonly key: EvidenceKey },
  { tenantId, subjectId, actor, requestId }: Erasure,
): Promise<number> => {
  const entry = {
    at: new Date(clock.now()).toISOString(),
    action: erasureAction,
    actor,
    resource: { type: erasureAction.slice(0, erasureAction.indexOf('.')), id: subjectId ?? everybodyId },
    requestId,
    details: { actorName: '', resourceName: '', address: '', changes: [] },
  };
  const { sequence } = await documents.transaction((transaction) =>
    appendRecords(transaction, tenantId, [entry], (recordHash) => key.signErasure(tenantId, recordHash)),
  );
  const recordFilter =
    subjectId === undefined ? {} : { $or: [{ 'actor.id': subjectId }, { 'resource.id': subjectId }] };
  let erasedCount = 0;
  let pendingIds: string[] = [];
  const eraseBatch = async (): Promise<void> => {
    await documents.transaction(async (transaction) => {
      const records = transaction.forTenant(tenantId).collection(auditRecords);
      for (const id of pendingIds) await records.update(id, { details: null });
    });
    erasedCount += pendingIds.length;
    pendingIds = [];
  };
  for await (const record of readRecordsInOrder(documents, tenantId, { upTo: sequence - 1 }, recordFilter)) {
    if (record.details !== null && record.action !== erasureAction) pendingIds.push(record.id);
    if (pendingIds.length >= eraseBatchSize) await eraseBatch();
  }
  if (pendingIds.length > 0) await eraseBatch();
  return erasedCount;
};
