import { createHash } from 'node:crypto';
import type { Documents, StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type LicenseKey, licenseKeys } from '../../../schemas/resources/license-key.ts';
import { buildUseId, type LicenseKeyUse, licenseKeyUses } from '../../../schemas/resources/license-key-use.ts';
import { emptyQuota, quotaId, quotas } from '../../../schemas/resources/quota.ts';
import type { Signal } from '../../../schemas/telemetry-signals.ts';
import type { DeadLetter } from '../../../subjects/dead-letters/dead-letters.ts';
import { type LastReceived, readLastReceived } from '../../../subjects/onboarding/last-received.ts';
import { readVolumes } from '../../../subjects/usage/ledger.ts';
import { type QuotaState, readUsedBytes, toQuotaStates } from '../../../subjects/usage/quota-states.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Ports } from '../../kernel/ports.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const maxDeadLetters = 5;

/** A key that was found by its current secret, or by one that a rotation replaced. */
export interface FoundKey {
  readonly key: LicenseKey & StoredMetadata;
  readonly hash: string;
}

/** Finds a key by its secret. A key of another organization is not found, like an unknown key. */
export const findKey = async (
  documents: Documents,
  tenantId: string,
  secret: string,
): Promise<FoundKey | undefined> => {
  const hash = createHash('sha256').update(secret).digest('hex');
  const filter = { $or: [{ hash }, { previous: { $elemMatch: { hash } } }] };
  const { items } = await documents.forTenant(tenantId).collection(licenseKeys).list({ filter, limit: 1 });
  return items[0] && { key: items[0], hash };
};

/** Recent use, dead letters, rejections and quotas of a key, and the last stored records of its project. */
export interface Evidence {
  readonly use: LicenseKeyUse | undefined;
  /** Of the key's project, within the last day */
  readonly lastStored: LastReceived;
  readonly deadLetters: readonly DeadLetter[];
  /** Rejected requests of this hour and the one before, by reason. */
  readonly rejected: readonly { readonly reason: string; readonly requests: number }[];
  readonly quotas: readonly QuotaState[];
}

export const readEvidence = async (
  { key, hash }: FoundKey,
  signal: Signal | undefined,
  { tenantId, plan }: Pick<Caller, 'tenantId' | 'plan'>,
  { documents, columns, deadLetters, clock }: Ports,
): Promise<Evidence> => {
  const nowMs = clock.now();
  const tenantDocuments = documents.forTenant(tenantId);
  const recentRange = { fromMs: nowMs - (nowMs % hourMs) - hourMs, toMs: nowMs + hourMs };
  const [use, lastStored, deadLetterPage, volumes, quota, usedBytes] = await Promise.all([
    tenantDocuments.collection(licenseKeyUses).find(buildUseId(key.id, hash)),
    readLastReceived(columns.forTenant(tenantId), { projectId: key.projectId, sinceMs: nowMs - dayMs }),
    deadLetters.list(
      { tenantId, keyId: key.id, kind: 'refused', signal, state: 'open', fromMs: nowMs - dayMs },
      { limit: maxDeadLetters },
    ),
    readVolumes(columns.forTenant(tenantId), { keyId: key.id, signal }, recentRange),
    tenantDocuments.collection(quotas).find(quotaId),
    readUsedBytes(columns.forTenant(tenantId), nowMs),
  ]);
  return {
    use,
    lastStored,
    deadLetters: deadLetterPage.items,
    rejected: Object.values(volumes).flatMap(({ rejectedBy }) => rejectedBy),
    quotas: toQuotaStates(quota ?? emptyQuota, plan.limits, usedBytes, nowMs),
  };
};
