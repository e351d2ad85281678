import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

export const roles = ['viewer', 'editor', 'admin', 'owner', 'auditor'] as const;
export type Role = (typeof roles)[number];

/** A user, across organizations. Stored under `platformTenant`. */
export const User = z.strictObject({
  email: z.email().describe('Email address in lower case'),
  name: z.string().max(256).default(''),
  /** PHC string of argon2id, including the parameters. */
  passwordHash: z.string().nullable(),
  disabled: z.boolean().default(false),
  /** Organization of the user's last sign-in, except sign-ins by an identity provider. */
  lastTenantId: z.string().optional(),
});
export type User = z.output<typeof User>;
export const users = defineCollection<User>({ name: 'users', uniqueEverywhere: [['email']] });
export const usersTenant = platformTenant;

/** A user's membership in one organization, stored under that tenant; the document ID is the user ID. */
export const Membership = z.strictObject({
  role: z.enum(roles),
  /** Whether the user is locked out of this organization; absent means false. */
  disabled: z.boolean().optional(),
});
export type Membership = z.output<typeof Membership>;
export const memberships = defineCollection<Membership>({ name: 'memberships' });
