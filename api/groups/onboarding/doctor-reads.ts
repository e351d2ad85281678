import { createHash } from 'node:crypto';
import type { Documents, Stored } from '../../../schemas/ports/documents.ts';
import { type LicenseKey, licenseKeys } from '../../../schemas/resources/license-key.ts';
import { type LicenseKeyUse, licenseKeyUses, useId } from '../../../schemas/resources/license-key-use.ts';
import { noQuota, quotaId, quotas } from '../../../schemas/resources/quota.ts';
import type { Signal } from '../../../schemas/telemetry-signals.ts';
import type { DeadLetter } from '../../../subjects/dead-letters/dead-letters.ts';
import { type Landed, lastLanded } from '../../../subjects/onboarding/landed.ts';
import { readVolumes } from '../../../subjects/usage/ledger.ts';
import { type QuotaState, quotaStates, readUsed } from '../../../subjects/usage/quota-states.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Ports } from '../../kernel/ports.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const shownDeadLetters = 5;

/** A key that was found by its current secret, or by one that a rotation replaced. */
export interface FoundKey {
  readonly key: LicenseKey & Stored;
  readonly hash: string;
}

/** A key of another organization is not found, exactly like an unknown key. */
export const findKey = async (
  documents: Documents,
  tenantId: string,
  secret: string,
): Promise<FoundKey | undefined> => {
  const hash = createHash('sha256').update(secret).digest('hex');
  const filter = { $or: [{ hash }, { previous: { $elemMatch: { hash } } }] };
  const { items } = await documents.of(tenantId).collection(licenseKeys).list({ filter, limit: 1 });
  return items[0] && { key: items[0], hash };
};

/** Facts about the requests of a key. */
export interface Evidence {
  readonly use: LicenseKeyUse | undefined;
  /** Of the key's project, within the last day */
  readonly landed: Landed;
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
  const own = documents.of(tenantId);
  const lately = { fromMs: nowMs - (nowMs % hourMs) - hourMs, toMs: nowMs + hourMs };
  const [use, landed, deadLetterPage, volumes, quota, used] = await Promise.all([
    own.collection(licenseKeyUses).find(useId(key.id, hash)),
    lastLanded(columns.of(tenantId), { projectId: key.projectId, sinceMs: nowMs - dayMs }),
    deadLetters.list(
      { tenantId, keyId: key.id, kind: 'refused', signal, state: 'open', fromMs: nowMs - dayMs },
      { limit: shownDeadLetters },
    ),
    readVolumes(columns.of(tenantId), { keyId: key.id, signal }, lately),
    own.collection(quotas).find(quotaId),
    readUsed(columns.of(tenantId), nowMs),
  ]);
  return {
    use,
    landed,
    deadLetters: deadLetterPage.items,
    rejected: Object.values(volumes).flatMap(({ rejectedBy }) => rejectedBy),
    quotas: quotaStates(quota ?? noQuota, plan.limits, used, nowMs),
  };
};
