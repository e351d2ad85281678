import type { Stored } from '../../../schemas/ports/documents.ts';
import { type Incident, incidents } from '../../../schemas/resources/incident.ts';
import type { Who } from '../../callers/caller.ts';
import type { AuditedTransaction } from '../../changes.ts';
import { storeVersion } from '../../resources/resource-history.ts';

/** Writes an incident outside its own operations: with its new version, and the audit record of the change. */
export const writeIncident = async (
  scope: AuditedTransaction,
  tenantId: string,
  { before, next, actor }: { readonly before: Incident & Stored; readonly next: Incident; readonly actor: Who },
): Promise<void> => {
  const own = scope.of(tenantId);
  const after = await own.collection(incidents).replace(before.id, next, before.version);
  await storeVersion(own, 'incident', { before, after, actor: { type: actor.type, id: actor.id } });
  scope.record({ id: after.id, name: after.title, before, after, tenantId, actor });
};
