/** Closing an organization: access ends immediately; it can be reopened for 30 days, and is then erased. */
import type { Clock } from '../../../schemas/ports/clock.ts';
import type { Documents, StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type Organization, organizations, organizationsTenant } from '../../../schemas/resources/organization.ts';
import { type AuditedTransaction, createSystemActor, createSystemTransact } from '../../changes.ts';
import { removeSessions } from '../sessions.ts';

const gracePeriodMs = 30 * 86_400_000;

/**
 * Closes an organization, within a change that declares `organization.close`. Every session of the organization ends.
 */
export const closeOrganization = async (
  { forTenant, record }: AuditedTransaction,
  before: Organization & StoredMetadata,
  now: number,
): Promise<Organization & StoredMetadata> => {
  const closure = {
    at: new Date(now).toISOString(),
    eraseAt: new Date(now + gracePeriodMs).toISOString(),
    erased: false,
  };
  const organization = await forTenant(organizationsTenant)
    .collection(organizations)
    .update(before.id, { disabled: true, closed: closure });
  await removeSessions({ forTenant }, { tenantId: before.id });
  record({ id: before.id, name: before.name, before, after: organization });
  return organization;
};

/** Reopens a closed organization, for the operator. Throws with the reason if that is impossible. */
export const reopenOrganization = async (
  ports: { readonly documents: Documents; readonly clock: Clock },
  id: string,
): Promise<Organization & StoredMetadata> =>
  createSystemTransact(
    ports,
    'organization.reopen',
  )(async ({ forTenant, record }) => {
    const organizationCollection = forTenant(organizationsTenant).collection(organizations);
    const before = await organizationCollection.find(id);
    if (before === undefined) throw new Error(`organization ${id} does not exist`);
    if (!before.closed) throw new Error(`the organization ${before.name} is not closed`);
    if (before.closed.erased || Date.parse(before.closed.eraseAt) <= ports.clock.now())
      throw new Error(`the organization was closed on ${before.closed.at.slice(0, 10)}: its data was erased`);
    const after = await organizationCollection.update(id, { disabled: false, closed: null });
    record({ id, name: before.name, before, after, tenantId: id, actor: createSystemActor('command line') });
    return after;
  });
