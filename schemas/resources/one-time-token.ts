import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

const expiresAt = z.iso.datetime();

/**
 * What a link in a mail lets its receiver do, most of them once. Stored under `platformTenant`; the document id is the hex SHA-256 of the
 * token, which is in the mail and nowhere else.
 */
export const OneTimeToken = z.discriminatedUnion('purpose', [
  z.strictObject({ purpose: z.literal('reset-password'), userId: z.string(), expiresAt }),
  z.strictObject({ purpose: z.literal('invitation'), tenantId: z.string(), invitationId: z.string(), expiresAt }),
  /** The organization to create once the address is confirmed. */
  z.strictObject({ purpose: z.literal('registration'), email: z.string(), organization: z.string(), expiresAt }),
  /** Of a page. It can be used again, as to acknowledge twice changes nothing. */
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
