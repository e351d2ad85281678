import { z } from 'zod';
import { memberships, roles } from '../../../schemas/resources/user.ts';
import { requireUser } from '../../callers/caller.ts';
import { ApiError, createRateLimitError } from '../../errors.ts';
import { OrganizationName } from '../../identity/accounts/names.ts';
import { insertOrganization } from '../../identity/accounts/organization.ts';
import { defineOperation } from '../../kernel/operation.ts';

const MemberOrganization = z.strictObject({
  id: z.string(),
  name: z.string(),
  role: z.enum(roles),
  current: z.boolean().describe('Whether it is the organization of this session'),
  createdAt: z.iso.datetime(),
});

export const listOrganizations = defineOperation({
  method: 'GET',
  path: '/api/organizations',
  operationId: 'listOrganizations',
  summary:
    'List my organizations; a session started through an identity provider lists only the organization of that provider',
  role: 'session',
  response: z.strictObject({ items: z.array(MemberOrganization), nextCursor: z.null() }),
  async handler({ caller }, { directory, documents }) {
    const { userId, tenantId, identityProviderTenantId } = requireUser(caller);
    const items: z.output<typeof MemberOrganization>[] = [];
    for (const { id, name, createdAt } of directory.listOrganizationsOfUser(userId)) {
      if (identityProviderTenantId !== undefined && identityProviderTenantId !== id) continue;
      const membership = await documents.forTenant(id).collection(memberships).find(userId);
      if (membership !== undefined)
        items.push({ id, name, role: membership.role, current: id === tenantId, createdAt });
    }
    return { items, nextCursor: null };
  },
});

const userRateLimit = { rate: 1 / 3600, burst: 10 };

export const createOrganization = defineOperation({
  method: 'POST',
  path: '/api/organizations',
  operationId: 'createOrganization',
  summary:
    'Create another organization and become its Owner, if that is allowed; POST /auth/switch-tenant switches to it',
  role: 'session',
  audit: 'organization.create',
  body: z.strictObject({ name: OrganizationName }),
  response: MemberOrganization,
  async handler({ caller, body, change }, { counters, settings }) {
    const { userId, user, identityProviderTenantId } = requireUser(caller);
    if (identityProviderTenantId !== undefined)
      throw new ApiError(
        'FORBIDDEN',
        'this session was started through an organization’s identity provider; to create another organization, sign in with the password',
      );
    if (!settings.MORE_ORGANIZATIONS)
      throw new ApiError('FORBIDDEN', 'creating organizations is disabled on this installation');
    const { granted, retryAfterMs } = await counters.consume(`organizations/${userId}`, userRateLimit, 1);
    if (granted < 1)
      throw createRateLimitError('too many organizations in a short time; try again later', retryAfterMs);
    const planId = settings.NEW_ORGANIZATION_PLAN;
    const { organization, membership } = await change((scope) =>
      insertOrganization(scope, { name: body.name, owner: user, planId }),
    );
    const { id, name, createdAt } = organization;
    return { id, name, role: membership.role, current: false, createdAt };
  },
});
