import { randomUUID } from 'node:crypto';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type Organization, organizations, organizationsTenant } from '../../../schemas/resources/organization.ts';
import { plans, plansTenant } from '../../../schemas/resources/plan.ts';
import { projects } from '../../../schemas/resources/project.ts';
import { type Membership, memberships, type User } from '../../../schemas/resources/user.ts';
import type { Actor } from '../../callers/caller.ts';
import type { AuditedTransaction } from '../../changes.ts';

/**
 * Creates an organization with its first project and its Owner, within a change that declares `organization.create`.
 */
export const insertOrganization = async (
  { forTenant, record }: AuditedTransaction,
  {
    name,
    owner,
    planId,
    id = randomUUID(),
    actor = { type: 'user', id: owner.id, name: owner.email },
  }: {
    readonly name: string;
    readonly owner: User & StoredMetadata;
    readonly planId: string;
    readonly id?: string;
    /** Defaults to the Owner */
    readonly actor?: Actor;
  },
): Promise<{ organization: Organization & StoredMetadata; membership: Membership & StoredMetadata }> => {
  if ((await forTenant(plansTenant).collection(plans).find(planId)) === undefined)
    throw new Error(`OIQ_NEW_ORGANIZATION_PLAN: plan ${planId} does not exist`);
  const organization = await forTenant(organizationsTenant)
    .collection(organizations)
    .insert({ id, name, planId, retentionDays: {}, shards: 1, disabled: false });
  const membership = await forTenant(id).collection(memberships).insert({ id: owner.id, role: 'owner' });
  await forTenant(id).collection(projects).insert({ id: 'default', name: 'Default', description: '' });
  record({ action: 'organization.create', tenantId: id, id, name, after: { name, planId, owner: owner.email }, actor });
  return { organization, membership };
};
