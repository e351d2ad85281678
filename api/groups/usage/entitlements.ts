import { z } from 'zod';
import { Plan } from '../../../schemas/resources/plan.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { allPlans } from './plans.ts';
import { PlanRef } from './views.ts';

const { retentionDays, limits } = Plan.shape;

export const getEntitlements = defineOperation({
  method: 'GET',
  path: '/api/entitlements',
  operationId: 'getEntitlements',
  summary: 'List what the plan includes, and which plans include what it lacks',
  role: 'viewer',
  response: z.strictObject({
    plan: PlanRef,
    entitlements: z.array(
      z.strictObject({
        name: z.string(),
        enabled: z.boolean(),
        plans: z.array(PlanRef).describe('Plans that include it'),
      }),
    ),
    retentionDays,
    limits,
  }),
  async handler({ caller: { plan, organization } }, { documents }) {
    const all = await allPlans(documents);
    const names = new Set([...plan.entitlements, ...all.flatMap(({ entitlements }) => entitlements)]);
    return {
      plan: { id: organization.planId, name: plan.name },
      entitlements: [...names].sort().map((name) => ({
        name,
        enabled: plan.entitlements.includes(name),
        plans: all
          .filter(({ entitlements }) => entitlements.includes(name))
          .map(({ id, name: title }) => ({ id, name: title })),
      })),
      retentionDays: plan.retentionDays,
      limits: plan.limits,
    };
  },
});
