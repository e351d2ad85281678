/** Decides which tenants a processor or a schedule works for. */
import type { Documents } from '../../schemas/ports/documents.ts';
import type { Organization } from '../../schemas/resources/organization.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { type Plan, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { resolvePlan } from '../../schemas/resources/tenant-plan.ts';
import { FollowedDocuments } from './documents.ts';

/** Collections that a process follows to resolve entitlements. */
export const entitlementCollections = [organizations, plans] as const;

/** An entitlement, or several of which the plan needs at least one */
export type RequiredEntitlement = string | readonly string[];

/** Returns whether the plan of the tenant has the entitlement. A disabled or unknown tenant has none. */
export const isEntitled = (
  documents: FollowedDocuments,
  tenantId: string,
  entitlement: RequiredEntitlement,
): boolean => {
  const organization = documents.getCurrentDocuments(organizations.name, organizationsTenant).get(tenantId) as
    | Organization
    | undefined;
  const plan = resolvePlan(
    organization,
    (planId) => documents.getCurrentDocuments(plans.name, plansTenant).get(planId) as Plan | undefined,
  );
  return plan !== undefined && [entitlement].flat().some((name) => plan.entitlements.includes(name));
};

/** Current entitlement of tenants. */
export interface FollowedEntitlement {
  has(tenantId: string): boolean;
  /** Returns the time since all changes were last received. */
  staleMs(): number;
  close(): Promise<void>;
}

/** Follows which tenants have the entitlement; without an entitlement, all do. */
export const followEntitlement = async (
  documents: Pick<Documents, 'follow'>,
  entitlement: RequiredEntitlement | undefined,
): Promise<FollowedEntitlement> => {
  if (entitlement === undefined) return { has: () => true, staleMs: () => 0, close: async () => undefined };
  const followedDocuments = new FollowedDocuments();
  const feeds = await Promise.all(
    entitlementCollections.map((collection) =>
      documents.follow<object>(collection, ({ tenantId, id, document }) =>
        followedDocuments.applyChange(collection.name, tenantId, id, document),
      ),
    ),
  );
  return {
    has: (tenantId) => isEntitled(followedDocuments, tenantId, entitlement),
    staleMs: () => Math.max(...feeds.map((feed) => feed.getStaleMs())),
    close: async () => void (await Promise.all(feeds.map((feed) => feed.close()))),
  };
};
