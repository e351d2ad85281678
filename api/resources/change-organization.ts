import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { type Organization, organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { hasSameFields } from '../changes.ts';
import { createNotFoundError } from '../errors.ts';
import { formatEtag, parsePrecondition, requireVersion } from './preconditions.ts';
import type { WriteInput } from './resource-changes.ts';

/**
 * Sets fields of the caller's organization and sends its `ETag`; `If-Match` is supported. Unchanged fields are
 * not written.
 */
export const changeOrganization = async (
  { caller: { tenantId }, request, change }: WriteInput,
  computeFields: (before: Organization) => Partial<Organization>,
): Promise<Organization & StoredMetadata> => {
  const organization = await change(async ({ forTenant, record, markUnchanged }) => {
    const organizationCollection = forTenant(organizationsTenant).collection(organizations);
    const before = await organizationCollection.find(tenantId);
    if (before === undefined) throw createNotFoundError('organization');
    requireVersion(before, parsePrecondition(request), { noun: 'organization', requiresIfMatch: false });
    const fields = computeFields(before);
    if (hasSameFields(before, fields)) {
      markUnchanged();
      return before;
    }
    const after = await organizationCollection.update(tenantId, fields);
    record({ id: tenantId, name: after.name, before, after });
    return after;
  });
  request.reply('ETag', formatEtag(organization));
  return organization;
};
