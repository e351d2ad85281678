import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

/**
 * Whom an identity provider knows a user as: issuer and subject, unique everywhere. Addresses change hands, so nothing is
 * ever found by one. Stored under `platformTenant`.
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
  // Of one issuer there may be everybody's.
  indexes: [['subject'], ['userId']],
});
export const identitiesTenant = platformTenant;
