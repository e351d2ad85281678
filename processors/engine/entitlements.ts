/** Which tenants a processor works for. */
import type { Organization } from '../../schemas/resources/organization.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { type Plan, plans, plansTenant } from '../../schemas/resources/plan.ts';
import type { FollowedDocuments } from './documents.ts';

/** What a process follows to know it. */
export const entitlementCollections = [organizations, plans] as const;

/** Whether the tenant's plan has the entitlement. A tenant that is disabled, or unknown, has none. */
export const isEntitled = (documents: FollowedDocuments, tenantId: string, entitlement: string): boolean => {
  const organization = documents.of(organizations.name, organizationsTenant).get(tenantId) as Organization | undefined;
  if (organization === undefined || organization.disabled) return false;
  const plan = documents.of(plans.name, plansTenant).get(organization.planId) as Plan | undefined;
  return plan?.entitlements.includes(entitlement) === true;
};
