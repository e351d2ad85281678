import { z } from 'zod';
import type { Stored } from '../../../schemas/ports/documents.ts';
import { noQuota, Quota, quotaId, quotaScopes, quotas, quotaWindows } from '../../../schemas/resources/quota.ts';
import { iso } from '../../../subjects/usage/period.ts';
import { QuotaState, quotaStates, readUsed } from '../../../subjects/usage/quota-states.ts';
import type { Caller } from '../../callers/caller.ts';
import { hasAlready } from '../../changes.ts';
import { type Detail, invalidFields } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { etagOf, preconditionOf, requireVersion } from '../../resources/preconditions.ts';

const QuotaView = z.strictObject({
  ...Quota.shape,
  asOf: z.string(),
  states: z.array(QuotaState).describe('One per threshold, including that of the plan'),
});

/** Value for quotas that were never set: no thresholds, version 0. */
const unset: Quota & Pick<Stored, 'version'> = { ...noQuota, version: 0 };

const viewOf = async (
  quota: Quota,
  { tenantId, plan }: Pick<Caller, 'tenantId' | 'plan'>,
  { columns, clock }: Pick<Ports, 'columns' | 'clock'>,
): Promise<z.output<typeof QuotaView>> => {
  const nowMs = clock.now();
  const used = await readUsed(columns.of(tenantId), nowMs);
  const { day, month } = quota;
  return { day, month, asOf: iso(nowMs), states: quotaStates(quota, plan.limits, used, nowMs) };
};

/** Not cached, unlike other answers on usage: users read it just after they changed a quota. */
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
    const stored = await ports.documents.of(caller.tenantId).collection(quotas).find(quotaId);
    request.reply('ETag', etagOf(stored ?? unset));
    return viewOf(stored ?? unset, caller, ports);
  },
});

export const setQuotas = defineOperation({
  method: 'PUT',
  path: '/api/usage/quotas',
  operationId: 'setQuotas',
  summary: 'Set quotas. Within a second, requests beyond a reject threshold are answered with 429',
  role: 'admin',
  audit: 'quota.set',
  versions: 'write',
  body: Quota,
  serverOwned: ['asOf', 'states'],
  response: QuotaView,
  async handler({ caller, body, request, change }, ports) {
    refuseUnreachable(body);
    const after = await change(async ({ of, record, unchanged }) => {
      const collection = of(caller.tenantId).collection(quotas);
      const before = await collection.find(quotaId);
      requireVersion(before ?? unset, preconditionOf(request), { noun: 'quota', requiresIfMatch: false });
      if (hasAlready(before ?? unset, body)) {
        unchanged();
        return before ?? unset;
      }
      const written =
        before === undefined
          ? await collection.insert({ id: quotaId, ...body })
          : await collection.replace(quotaId, body, before.version);
      record({ id: quotaId, name: 'quotas', before, after: written });
      return written;
    });
    request.reply('ETag', etagOf(after));
    return viewOf(after, caller, ports);
  },
});

/** A warning threshold above the reject threshold would never be reached. */
const refuseUnreachable = (quota: Quota): void => {
  const details = quotaWindows.flatMap((window) =>
    quotaScopes.flatMap((scope): Detail[] => {
      const { warnBytes, rejectBytes } = quota[window][scope];
      if (warnBytes === null || rejectBytes === null || warnBytes <= rejectBytes) return [];
      return [{ path: `${window}.${scope}.warnBytes`, message: 'is above rejectBytes, so it would never warn' }];
    }),
  );
  if (details.length > 0) throw invalidFields(details);
};
