/**
 * Plan of an organization. The receivers' keyring has its own lookup, because it also limits disabled organizations.
 */
import type { Documents } from '../ports/documents.ts';
import { type Organization, organizations, organizationsTenant } from './organization.ts';
import { type Plan, plans, plansTenant } from './plan.ts';

/**
 * Returns the plan of an organization; `undefined` if the organization is unknown or disabled, or if `find` has no such
 * plan.
 */
export const resolvePlan = <PlanType>(
  organization: Pick<Organization, 'disabled' | 'planId'> | undefined,
  find: (planId: string) => PlanType | undefined,
): PlanType | undefined =>
  organization === undefined || organization.disabled ? undefined : find(organization.planId);

/** Reads the plan of an organization from the documents; `undefined` as in `resolvePlan`. */
export const readPlan = async (
  documents: Pick<Documents, 'forTenant'>,
  tenantId: string,
): Promise<Plan | undefined> => {
  const organization = await documents.forTenant(organizationsTenant).collection(organizations).find(tenantId);
  return resolvePlan(organization, (planId) => documents.forTenant(plansTenant).collection(plans).find(planId));
};
