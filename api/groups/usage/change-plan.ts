import { z } from 'zod';
import { type Organization, organizations, organizationsTenant } from '../../../schemas/resources/organization.ts';
import { type Plan, plans, plansTenant } from '../../../schemas/resources/plan.ts';
import { getQuotaWindow } from '../../../schemas/resources/quota.ts';
import { signals } from '../../../schemas/telemetry-signals.ts';
import { readVolumes, sumVolumes } from '../../../subjects/usage/ledger.ts';
import { ApiError, createFieldError, createNotFoundError, type FieldError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { formatEtag, parsePrecondition, requireVersion } from '../../resources/preconditions.ts';
import { isPlanAvailable } from './plans.ts';
import { PlanRef } from './views.ts';

const Loss = z.strictObject({ path: z.string(), message: z.string() });

export const changePlan = defineOperation({
  method: 'PUT',
  path: '/api/billing/plan',
  operationId: 'changePlan',
  summary: 'Change the plan, with immediate effect. Unless acceptLosses is set, 409 lists the losses',
  role: 'admin',
  audit: 'organization.change-plan',
  versions: 'write',
  body: z.strictObject({
    planId: z.string().min(1).max(128),
    acceptLosses: z.boolean().default(false).describe('Change the plan even if something is lost'),
  }),
  response: z.strictObject({ plan: PlanRef, previousPlan: PlanRef, losses: z.array(Loss) }),
  async handler({ caller, body, request, change }, { documents, columns, clock, settings }) {
    if (!settings.SELF_SERVICE_PLANS)
      throw new ApiError(
        'FORBIDDEN',
        'only the operator of the installation can change plans, unless OIQ_SELF_SERVICE_PLANS is set',
      );
    const plan = await documents.forTenant(plansTenant).collection(plans).find(body.planId);
    if (plan === undefined) throw createFieldError('planId', 'is not a plan: GET /api/plans lists them');
    if (!isPlanAvailable(plan, settings))
      throw new ApiError(
        'FORBIDDEN',
        `the plan ${plan.name} cannot be chosen here: ask the operator of the installation`,
      );
    const { tenantId } = caller;
    const today = getQuotaWindow('day', clock.now());
    const volumes = await readVolumes(columns.forTenant(tenantId), {}, { fromMs: today.fromMs, toMs: today.endMs });
    const bytesToday = sumVolumes(volumes).accepted.bytes;

    const planChange = await change(async ({ forTenant, record }) => {
      const stored = forTenant(organizationsTenant).collection(organizations);
      const before = await stored.find(tenantId);
      const previousPlan = before && (await forTenant(plansTenant).collection(plans).find(before.planId));
      if (before === undefined || previousPlan === undefined) throw createNotFoundError('organization');
      requireVersion(before, parsePrecondition(request), { noun: 'organization', requiresIfMatch: false });
      const losses = findLosses(before, previousPlan, plan, bytesToday);
      if (losses.length > 0 && !body.acceptLosses)
        throw new ApiError(
          'CONFLICT',
          'the change would cause the losses listed in details; send acceptLosses to continue',
          {
            details: losses,
          },
        );
      const retentionDays = limitRetention(before.retentionDays, plan);
      const after = await stored.update(tenantId, { planId: plan.id, retentionDays });
      record({ id: tenantId, name: after.name, before, after });
      return { after, previous: previousPlan, losses };
    });
    request.reply('ETag', formatEtag(planChange.after));
    return {
      plan: { id: plan.id, name: plan.name },
      previousPlan: { id: planChange.previous.id, name: planChange.previous.name },
      losses: planChange.losses,
    };
  },
});

type RetentionDays = Organization['retentionDays'];

/** Returns the retention that the organization has set, without the values that exceed the plan. */
export const limitRetention = (organizationRetention: RetentionDays, plan: Plan): RetentionDays =>
  Object.fromEntries(
    signals.flatMap((signal) => {
      const days = organizationRetention[signal];
      return days === undefined || days > plan.retentionDays[signal] ? [] : [[signal, days] as const];
    }),
  );

/** Returns what an organization loses when it changes its plan; `path` is the setting of the plan that causes the loss. */
export const findLosses = (
  { retentionDays: organizationRetention }: Pick<Organization, 'retentionDays'>,
  previousPlan: Plan,
  nextPlan: Plan,
  bytesToday: number,
): FieldError[] => {
  const losses: FieldError[] = [];
  for (const signal of signals) {
    const currentDays = Math.min(
      organizationRetention[signal] ?? previousPlan.retentionDays[signal],
      previousPlan.retentionDays[signal],
    );
    const maxDays = nextPlan.retentionDays[signal];
    if (currentDays <= maxDays) continue;
    const retentionNote = organizationRetention[signal] === undefined ? '' : ' (the organization’s retention)';
    losses.push({
      path: `retentionDays.${signal}`,
      message: `${signal} are stored for ${currentDays} days${retentionNote}; the plan stores ${maxDays} days, and older data is permanently deleted`,
    });
  }
  const lostEntitlements = previousPlan.entitlements.filter((name) => !nextPlan.entitlements.includes(name));
  for (const name of lostEntitlements) {
    const rejectionNote = (signals as readonly string[]).includes(name) ? ', and new data is rejected' : '';
    losses.push({
      path: `entitlements.${name}`,
      message: `the plan does not include ${name}: this data can no longer be read${rejectionNote}`,
    });
  }
  const { bytesPerDay } = nextPlan.limits;
  if (bytesPerDay !== null && bytesToday >= bytesPerDay)
    losses.push({
      path: 'limits.bytesPerDay',
      message: `${bytesToday} bytes were accepted today; the plan allows ${bytesPerDay} per day, so ingest stops until 00:00 UTC`,
    });
  return losses;
};
