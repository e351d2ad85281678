import { z } from 'zod';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { emptyQuota, Quota, quotaId, quotaScopes, quotas, quotaWindows } from '../../../schemas/resources/quota.ts';
import { toIsoTime } from '../../../subjects/usage/period.ts';
import { QuotaState, readUsedBytes, toQuotaStates } from '../../../subjects/usage/quota-states.ts';
import type { Caller } from '../../callers/caller.ts';
import { hasSameFields } from '../../changes.ts';
import { createFieldErrors, type FieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { formatEtag, parsePrecondition, requireVersion } from '../../resources/preconditions.ts';

const QuotaView = z.strictObject({
  ...Quota.shape,
  asOf: z.string(),
  states: z.array(QuotaState).describe('One per threshold, including that of the plan'),
});

/** Value for quotas that were never set: no thresholds, version 0. */
const defaultQuota: Quota & Pick<StoredMetadata, 'version'> = { ...emptyQuota, version: 0 };

const toView = async (
  quota: Quota,
  { tenantId, plan }: Pick<Caller, 'tenantId' | 'plan'>,
  { columns, clock }: Pick<Ports, 'columns' | 'clock'>,
): Promise<z.output<typeof QuotaView>> => {
  const nowMs = clock.now();
  const usedBytes = await readUsedBytes(columns.forTenant(tenantId), nowMs);
  const { day, month } = quota;
  return { day, month, asOf: toIsoTime(nowMs), states: toQuotaStates(quota, plan.limits, usedBytes, nowMs) };
};

/** Not cached, unlike other usage responses: users read quotas right after they changed them. */
export const getQuotas = defineOperation({
  method: 'GET',
  path: '/api/usage/quotas',
  operationId: 'getQuotas',
  summary:
    'Get the quotas of bytes per day and month, their current use, and whether they warn or reject; never cached',
  role: 'viewer',
  versions: 'shown',
  response: QuotaView,
  async handler({ caller, request }, ports) {
    const stored = await ports.documents.forTenant(caller.tenantId).collection(quotas).find(quotaId);
    request.reply('ETag', formatEtag(stored ?? defaultQuota));
    return toView(stored ?? defaultQuota, caller, ports);
  },
});

export const setQuotas = defineOperation({
  method: 'PUT',
  path: '/api/usage/quotas',
  operationId: 'setQuotas',
  summary: 'Set quotas. Within a second, requests beyond a reject threshold receive 429',
  role: 'admin',
  audit: 'quota.set',
  versions: 'write',
  body: Quota,
  serverOwned: ['asOf', 'states'],
  response: QuotaView,
  async handler({ caller, body, request, change }, ports) {
    requireReachableWarnings(body);
    const after = await change(async ({ forTenant, record, markUnchanged }) => {
      const collection = forTenant(caller.tenantId).collection(quotas);
      const before = await collection.find(quotaId);
      requireVersion(before ?? defaultQuota, parsePrecondition(request), { noun: 'quota', requiresIfMatch: false });
      if (hasSameFields(before ?? defaultQuota, body)) {
        markUnchanged();
        return before ?? defaultQuota;
      }
      const storedQuota =
        before === undefined
          ? await collection.insert({ id: quotaId, ...body })
          : await collection.replace(quotaId, body, before.version);
      record({ id: quotaId, name: 'quotas', before, after: storedQuota });
      return storedQuota;
    });
    request.reply('ETag', formatEtag(after));
    return toView(after, caller, ports);
  },
});

/** Throws if a warning threshold is above its reject threshold, because it would never be reached. */
const requireReachableWarnings = (quota: Quota): void => {
  const details = quotaWindows.flatMap((window) =>
    quotaScopes.flatMap((scope): FieldError[] => {
      const { warnBytes, rejectBytes } = quota[window][scope];
      if (warnBytes === null || rejectBytes === null || warnBytes <= rejectBytes) return [];
      return [{ path: `${window}.${scope}.warnBytes`, message: 'is above rejectBytes, so it would never warn' }];
    }),
  );
  if (details.length > 0) throw createFieldErrors(details);
};
