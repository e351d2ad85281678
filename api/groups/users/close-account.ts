import { z } from 'zod';
import { organizations, organizationsTenant } from '../../../schemas/resources/organization.ts';
import { closeOrganization } from '../../identity/accounts/closing.ts';
import { closedLetter } from '../../identity/accounts/letters.ts';
import { ownersOf } from '../../identity/accounts/owners.ts';
import { ApiError, invalid, notFound } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

export const closeAccount = defineOperation({
  method: 'DELETE',
  path: '/api/account',
  operationId: 'closeAccount',
  summary:
    'Close the organization (Owner only, confirmed by name). Access ends at once. An operator can reopen it for 30 days, then its data is erased',
  role: 'admin',
  people: true,
  audit: 'organization.close',
  body: z.strictObject({ name: z.string().max(256).describe('Name of the organization, as confirmation') }),
  response: z.strictObject({ closedAt: z.iso.datetime(), eraseAt: z.iso.datetime() }),
  async handler({ caller, body, change }, { clock, mail, settings }) {
    if (caller.role !== 'owner') throw new ApiError('FORBIDDEN', 'only an Owner can close the organization');
    const { closed } = await change(async (scope) => {
      const before = await scope.of(organizationsTenant).collection(organizations).find(caller.tenantId);
      if (before === undefined || before.disabled) throw notFound('organization');
      if (body.name !== before.name) throw invalid('name', 'is not the name of the organization');
      const done = await closeOrganization(scope, before, clock.now());
      const told = {
        organization: before.name,
        organizationId: before.id,
        by: caller.actor.name,
        eraseAt: done.closed?.eraseAt ?? '',
      };
      for (const to of await ownersOf(scope, before.id)) await mail.put(scope, closedLetter(settings, { to, ...told }));
      return done;
    });
    const { at = '', eraseAt = '' } = closed ?? {};
    return { closedAt: at, eraseAt };
  },
});
