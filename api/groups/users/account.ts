import { z } from 'zod';
import { organizations, organizationsTenant } from '../../../schemas/resources/organization.ts';
import { TimeZone } from '../../../schemas/resources/preferences.ts';
import type { Caller } from '../../callers/caller.ts';
import { ApiError, createFieldError, createNotFoundError } from '../../errors.ts';
import { createOrganizationClosedMail } from '../../identity/accounts/account-mails.ts';
import { closeOrganization } from '../../identity/accounts/close-organization.ts';
import { OrganizationName } from '../../identity/accounts/names.ts';
import { readOwnerAddresses } from '../../identity/accounts/owners.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { changeOrganization } from '../../resources/change-organization.ts';
import { formatEtag } from '../../resources/preconditions.ts';

/** The organization as visible to its members */
export const Account = z.strictObject({
  id: z.string(),
  name: z.string(),
  timeZone: TimeZone.describe('Default time zone of reports and mail; users can choose another'),
  plan: z.strictObject({ id: z.string(), name: z.string(), entitlements: z.array(z.string()) }),
  mail: z
    .enum(['configured', 'not-configured'])
    .describe('Whether mail is sent; if not, it is written to outbox*.jsonl in the data directory'),
  version: z.int(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

/** Fields of the account that `PATCH` ignores, so that a response can be sent back. */
const serverOwnedAccountFields = ['plan', 'mail'] as const;

const toAccountView = (
  { organization, plan }: Pick<Caller, 'organization' | 'plan'>,
  { mail }: Pick<Ports, 'mail'>,
): z.output<typeof Account> => ({
  id: organization.id,
  name: organization.name,
  timeZone: organization.timeZone ?? 'UTC',
  plan: { id: organization.planId, name: plan.name, entitlements: [...plan.entitlements] },
  mail: mail.isConfigured ? 'configured' : 'not-configured',
  version: organization.version,
  createdAt: organization.createdAt,
  updatedAt: organization.updatedAt,
});

export const getAccount = defineOperation({
  method: 'GET',
  path: '/api/account',
  operationId: 'getAccount',
  summary: 'Get the organization',
  role: 'viewer',
  versions: 'shown',
  response: Account,
  handler({ caller, request }, ports) {
    request.reply('ETag', formatEtag(caller.organization));
    return toAccountView(caller, ports);
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
  serverOwned: serverOwnedAccountFields,
  response: Account,
  async handler(input, ports) {
    const organization = await changeOrganization(input, (before) => {
      const { name = before.name, timeZone = before.timeZone } = input.body;
      return { name, timeZone };
    });
    return toAccountView({ organization, plan: input.caller.plan }, ports);
  },
});

export const closeAccount = defineOperation({
  method: 'DELETE',
  path: '/api/account',
  operationId: 'closeAccount',
  summary:
    'Close the organization (Owner only, confirmed by name). Access ends immediately. An operator can reopen it for 30 days, then its data is erased',
  role: 'admin',
  people: true,
  audit: 'organization.close',
  body: z.strictObject({ name: z.string().max(256).describe('Name of the organization, as confirmation') }),
  response: z.strictObject({ closedAt: z.iso.datetime(), eraseAt: z.iso.datetime() }),
  async handler({ caller, body, change }, { clock, mail, settings }) {
    if (caller.role !== 'owner') throw new ApiError('FORBIDDEN', 'only an Owner can close the organization');
    const { closed } = await change(async (scope) => {
      const before = await scope.forTenant(organizationsTenant).collection(organizations).find(caller.tenantId);
      if (before === undefined || before.disabled) throw createNotFoundError('organization');
      if (body.name !== before.name) throw createFieldError('name', 'is not the name of the organization');
      const closedOrganization = await closeOrganization(scope, before, clock.now());
      const details = {
        organization: before.name,
        organizationId: before.id,
        by: caller.actor.name,
        eraseAt: closedOrganization.closed?.eraseAt ?? '',
      };
      for (const to of await readOwnerAddresses(scope, before.id))
        await mail.enqueue(scope, createOrganizationClosedMail(settings, { to, ...details }));
      return closedOrganization;
    });
    const { at = '', eraseAt = '' } = closed ?? {};
    return { closedAt: at, eraseAt };
  },
});
