import { z } from 'zod';
import { organizations, organizationsTenant } from '../../../schemas/resources/organization.ts';
import { TimeZone } from '../../../schemas/resources/preferences.ts';
import { OrganizationName } from '../../identity/accounts/names.ts';
import { hasAlready } from '../../kernel/changes.ts';
import { notFound } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { etagOf, preconditionOf, requireVersion } from '../../resources/preconditions.ts';
import { Account, accountOf, serverOwnedOfAccount } from './account-view.ts';

export const getAccount = defineOperation({
  method: 'GET',
  path: '/api/account',
  operationId: 'getAccount',
  summary: 'Get the organization',
  role: 'viewer',
  versions: 'shown',
  response: Account,
  handler({ caller, request }, ports) {
    request.reply('ETag', etagOf(caller.organization));
    return accountOf(caller, ports);
  },
});

export const patchAccount = defineOperation({
  method: 'PATCH',
  path: '/api/account',
  operationId: 'updateAccount',
  summary: 'Change the organization’s name and settings',
  role: 'admin',
  audit: 'organization.update',
  versions: 'write',
  body: z.strictObject({ name: OrganizationName.optional(), timeZone: TimeZone.optional() }),
  serverOwned: serverOwnedOfAccount,
  response: Account,
  async handler({ caller, body, request, change }, ports) {
    const { tenantId, plan } = caller;
    const organization = await change(async ({ of, record, unchanged }) => {
      const stored = of(organizationsTenant).collection(organizations);
      const before = await stored.find(tenantId);
      if (before === undefined) throw notFound('organization');
      requireVersion(before, preconditionOf(request), { noun: 'organization', requiresIfMatch: false });
      const { name = before.name, timeZone = before.timeZone } = body;
      if (hasAlready(before, { name, timeZone })) {
        unchanged();
        return before;
      }
      const after = await stored.update(tenantId, { name, timeZone });
      record({ id: tenantId, name: after.name, before, after });
      return after;
    });
    request.reply('ETag', etagOf(organization));
    return accountOf({ organization, plan }, ports);
  },
});
