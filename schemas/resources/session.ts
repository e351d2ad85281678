import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

/**
 * A session of a user in one organization, deleted when it ends. Stored under `platformTenant`; the document ID is the
 * session ID in tokens.
 */
export const Session = z.strictObject({
  userId: z.string(),
  tenantId: z.string(),
  /** Time of authentication. The maximum refresh period of a session starts here, also across organizations. */
  signedInAt: z.iso.datetime(),
  /** ISO 8601 time in UTC at which the session ends, even if its tokens are valid longer. */
  expiresAt: z.iso.datetime(),
  /** Address at sign-in, for the list of the user's own sessions. */
  address: z.string(),
  userAgent: z.string().max(512),
  /** Hexadecimal SHA-256 of the current refresh token. */
  refreshHash: z.string(),
  /** Hash of the previous refresh token, which briefly returns the same successor. */
  previousRefreshHash: z.string().nullable(),
  refreshedAt: z.iso.datetime(),
  /**
   * Organization whose identity provider authenticated the user: the session is valid only for it. Absent after a
   * password sign-in.
   */
  provedBy: z.string().optional(),
});
export type Session = z.output<typeof Session>;

export const sessions = defineCollection<Session>({
  name: 'sessions',
  indexes: [['userId'], ['expiresAt'], ['tenantId']],
});
export const sessionsTenant = platformTenant;
