import { z } from 'zod';
import { TimeZone } from '../../../schemas/resources/preferences.ts';
import type { Caller } from '../../identity/caller.ts';
import type { Ports } from '../../kernel/ports.ts';

/** The organization as its members see it. */
export const Account = z.strictObject({
  id: z.string(),
  name: z.string(),
  timeZone: TimeZone.describe('Time zone of reports and mail, unless a user chose another'),
  plan: z.strictObject({ id: z.string(), name: z.string(), entitlements: z.array(z.string()) }),
  mail: z
    .enum(['configured', 'not-configured'])
    .describe('Whether mail is sent; if not, it is written to outbox.jsonl in the data directory'),
  version: z.int(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

/** Fields of the account that `PATCH` ignores, so that what was read can be sent back. */
export const serverOwnedOfAccount = ['plan', 'mail'] as const;

export const accountOf = (
  { organization, plan }: Pick<Caller, 'organization' | 'plan'>,
  { mail }: Pick<Ports, 'mail'>,
): z.output<typeof Account> => ({
  id: organization.id,
  name: organization.name,
  timeZone: organization.timeZone ?? 'UTC',
  plan: { id: organization.planId, name: plan.name, entitlements: [...plan.entitlements] },
  mail: mail.configured ? 'configured' : 'not-configured',
  version: organization.version,
  createdAt: organization.createdAt,
  updatedAt: organization.updatedAt,
});
