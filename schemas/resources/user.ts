import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

export const roles = ['viewer', 'editor', 'admin', 'owner', 'auditor'] as const;
export type Role = (typeof roles)[number];

/** A person, across organizations. Stored under `platformTenant`. */
export const User = z.strictObject({
  email: z.email().describe('Lower case'),
  name: z.string().max(256).default(''),
  /** PHC string of argon2id, parameters included. */
  passwordHash: z.string().nullable(),
  disabled: z.boolean().default(false),
  /** The organization in which a session of theirs was last begun, other than by an identity provider. */
  lastTenantId: z.string().optional(),
});
export type User = z.output<typeof User>;
export const users = defineCollection<User>({ name: 'users', uniqueEverywhere: [['email']] });
export const usersTenant = platformTenant;

/** A user's place in one organization, stored under that tenant; the document id is the user's id. */
export const Membership = z.strictObject({
  role: z.enum(roles),
  /** True keeps the user out of this organization; absent is false. */
  disabled: z.boolean().optional(),
});
export type Membership = z.output<typeof Membership>;
export const memberships = defineCollection<Membership>({ name: 'memberships' });
