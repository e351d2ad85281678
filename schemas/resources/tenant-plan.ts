/** By which plan an organization may be used. The keyring of receivers finds its own: it limits organizations that are disabled, too. */
import type { Documents } from '../ports/documents.ts';
import { type Organization, organizations, organizationsTenant } from './organization.ts';
import { type Plan, plans, plansTenant } from './plan.ts';

/** The plan of an organization; undefined where the organization is unknown or disabled, or `find` has no such plan. */
export const planOf = <Found>(
  organization: Pick<Organization, 'disabled' | 'planId'> | undefined,
  find: (planId: string) => Found | undefined,
): Found | undefined => (organization === undefined || organization.disabled ? undefined : find(organization.planId));

/** The same, read from the documents. */
export const readPlanOf = async (documents: Pick<Documents, 'of'>, tenantId: string): Promise<Plan | undefined> => {
  const organization = await documents.of(organizationsTenant).collection(organizations).find(tenantId);
  return planOf(organization, (planId) => documents.of(plansTenant).collection(plans).find(planId));
};
