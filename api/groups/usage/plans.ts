import { z } from 'zod';
import type { Documents, StoredMetadata } from '../../../schemas/ports/documents.ts';
import { Plan, Price, plans, plansTenant } from '../../../schemas/resources/plan.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { PlanRef } from './views.ts';

/** Returns all plans, the one with the fewest entitlements first. */
const readPlans = async (documents: Documents): Promise<readonly (Plan & StoredMetadata)[]> => {
  const { items } = await documents.forTenant(plansTenant).collection(plans).list();
  return [...items].sort(
    (left, right) => left.entitlements.length - right.entitlements.length || left.id.localeCompare(right.id),
  );
};

const { name, retentionDays, entitlements, limits } = Plan.shape;
const PlanView = z.strictObject({
  id: z.string(),
  name,
  retentionDays,
  entitlements,
  limits,
  price: Price.nullable().describe('null: no price is configured'),
  current: z.boolean().describe('Whether it is the plan of the organization'),
  available: z.boolean().describe('Whether an administrator of the organization may choose it'),
});

/** Whether organizations may choose a plan themselves. */
export const isPlanAvailable = ({ selfService }: Plan, settings: { readonly SELF_SERVICE_PLANS: boolean }): boolean =>
  settings.SELF_SERVICE_PLANS && selfService !== false;

export const listPlans = defineOperation({
  method: 'GET',
  path: '/api/plans',
  operationId: 'listPlans',
  summary: 'List plans with their retention, limits, entitlements and prices',
  role: 'viewer',
  response: z.strictObject({ items: z.array(PlanView), nextCursor: z.null() }),
  async handler({ caller }, { documents, settings }) {
    const items = (await readPlans(documents)).map((plan) => ({
      id: plan.id,
      name: plan.name,
      retentionDays: plan.retentionDays,
      entitlements: [...plan.entitlements],
      limits: plan.limits,
      price: plan.price ?? null,
      current: plan.id === caller.organization.planId,
      available: isPlanAvailable(plan, settings),
    }));
    return { items, nextCursor: null };
  },
});

export const getEntitlements = defineOperation({
  method: 'GET',
  path: '/api/entitlements',
  operationId: 'getEntitlements',
  summary: 'List the entitlements of the plan, and the plans that include the missing ones',
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
    const allPlans = await readPlans(documents);
    const names = new Set([...plan.entitlements, ...allPlans.flatMap(({ entitlements }) => entitlements)]);
    return {
      plan: { id: organization.planId, name: plan.name },
      entitlements: [...names].sort().map((name) => ({
        name,
        enabled: plan.entitlements.includes(name),
        plans: allPlans
          .filter(({ entitlements }) => entitlements.includes(name))
          .map(({ id, name: title }) => ({ id, name: title })),
      })),
      retentionDays: plan.retentionDays,
      limits: plan.limits,
    };
  },
});
