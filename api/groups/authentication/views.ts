import { z } from 'zod';

/** A user as visible to others */
export const Person = z.strictObject({ id: z.string(), email: z.string(), name: z.string() });
/** An organization with its name */
export const Tenant = z.strictObject({ id: z.string(), name: z.string() });

const refreshToken = z
  .string()
  .optional()
  .describe('For POST /auth/refresh; returned to programs only: browsers receive it as an HttpOnly cookie');

/** The tokens of a session. */
export const Tokens = z.strictObject({
  token: z.string().describe('For programs, as Authorization: Bearer'),
  expiresAt: z.iso.datetime().describe('When the token expires; refresh the session before'),
  refreshToken,
});

/** A session that has just started */
export const SignedIn = z.strictObject({ ...Tokens.shape, user: Person, tenant: Tenant });
