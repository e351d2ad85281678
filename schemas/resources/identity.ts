import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

/**
 * Identity of a user at an identity provider: issuer and subject, globally unique. Email addresses change owners, so
 * users are never looked up by them. Stored under `platformTenant`.
 */
export const Identity = z.strictObject({
  issuer: z.string(),
  subject: z.string().max(255),
  userId: z.string(),
});
export type Identity = z.output<typeof Identity>;

export const identities = defineCollection<Identity>({
  name: 'identities',
  uniqueEverywhere: [['issuer', 'subject']],
  // One issuer may have all identities.
  indexes: [['subject'], ['userId']],
});
export const identitiesTenant = platformTenant;
