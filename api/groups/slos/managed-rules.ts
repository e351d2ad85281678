/** Synchronizes the alert rules of an SLO with the SLO and its policy. */
import type { StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { sloPolicies } from '../../../schemas/resources/slo-policy.ts';
import { createAlertRules } from '../../../subjects/slos/alert-rules.ts';
import type { SloFields } from '../../../subjects/slos/document.ts';
import { readPolicy } from '../../../subjects/slos/policy.ts';
import { syncManagedRules } from '../alerts/managed-rules.ts';

interface SloChange {
  readonly before?: SloFields & StoredMetadata;
  readonly after?: SloFields & StoredMetadata;
}

/** Runs within the transaction that writes the SLO; deleting an SLO deletes its policy. */
export const syncSloRules = async (documents: TenantDocuments, { before, after }: SloChange): Promise<void> => {
  const sloId = (after ?? before)?.id;
  if (sloId === undefined) return;
  const policies = documents.collection(sloPolicies);
  const policy = await policies.find(sloId);
  if (after === undefined && policy !== undefined) await policies.delete(sloId, policy.version);
  await syncManagedRules(
    documents,
    { sloId },
    after === undefined ? [] : createAlertRules(sloId, after, readPolicy(policy)),
  );
};
