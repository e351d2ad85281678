import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

const expiresAt = z.iso.datetime();

/**
 * A one-time token, which grants the recipient of an email link one action. Some tokens are reusable. Stored under
 * `platformTenant`. The document ID is the hexadecimal SHA-256 of the token, which only the email contains.
 */
export const OneTimeToken = z.discriminatedUnion('purpose', [
  z.strictObject({ purpose: z.literal('reset-password'), userId: z.string(), expiresAt }),
  z.strictObject({ purpose: z.literal('invitation'), tenantId: z.string(), invitationId: z.string(), expiresAt }),
  /** The organization to create after confirmation of the address. */
  z.strictObject({ purpose: z.literal('registration'), email: z.string(), organization: z.string(), expiresAt }),
  /** Token of a page. It is reusable, since a second acknowledgement changes nothing. */
  z.strictObject({
    purpose: z.literal('acknowledge-incident'),
    tenantId: z.string(),
    incidentId: z.string(),
    personId: z.string(),
    expiresAt,
  }),
]);
export type OneTimeToken = z.output<typeof OneTimeToken>;

export const oneTimeTokens = defineCollection<OneTimeToken>({
  name: 'one-time-tokens',
  indexes: [['userId'], ['email'], ['expiresAt']],
});
export const oneTimeTokensTenant = platformTenant;
