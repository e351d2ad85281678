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
export const planOf = <Found>(
  organization: Pick<Organization, 'disabled' | 'planId'> | undefined,
  find: (planId: string) => Found | undefined,
): Found | undefined => (organization === undefined || organization.disabled ? undefined : find(organization.planId));

/** Reads the plan of an organization from the documents; `undefined` as in `planOf`. */
export const readPlanOf = async (documents: Pick<Documents, 'of'>, tenantId: string): Promise<Plan | undefined> => {
  const organization = await documents.of(organizationsTenant).collection(organizations).find(tenantId);
  return planOf(organization, (planId) => documents.of(plansTenant).collection(plans).find(planId));
};
