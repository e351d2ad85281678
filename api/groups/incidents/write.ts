import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type Incident, incidents } from '../../../schemas/resources/incident.ts';
import type { Actor } from '../../callers/caller.ts';
import type { AuditedTransaction } from '../../changes.ts';
import { storeVersion } from '../../resources/resource-history.ts';

/** Writes an incident outside of its resource operations, and stores its new version and the audit record of the change. */
export const writeIncident = async (
  scope: AuditedTransaction,
  tenantId: string,
  {
    before,
    next,
    actor,
  }: { readonly before: Incident & StoredMetadata; readonly next: Incident; readonly actor: Actor },
): Promise<void> => {
  const tenantDocuments = scope.forTenant(tenantId);
  const after = await tenantDocuments.collection(incidents).replace(before.id, next, before.version);
  await storeVersion(tenantDocuments, 'incident', { before, after, actor: { type: actor.type, id: actor.id } });
  scope.record({ id: after.id, name: after.title, before, after, tenantId, actor });
};
