import { z } from 'zod';

/** A user as others see them. */
export const Person = z.strictObject({ id: z.string(), email: z.string(), name: z.string() });
/** An organization, by name. */
export const Tenant = z.strictObject({ id: z.string(), name: z.string() });

const refreshToken = z
  .string()
  .optional()
  .describe('For POST /auth/refresh, given to programs; browsers have it as a cookie that no script reads');

/** The tokens of a session. */
export const Tokens = z.strictObject({
  token: z.string().describe('For programs: Authorization: Bearer'),
  expiresAt: z.iso.datetime().describe('Of the token; refresh the session before'),
  refreshToken,
});

/** A session that was just begun. */
export const SignedIn = z.strictObject({ ...Tokens.shape, user: Person, tenant: Tenant });
