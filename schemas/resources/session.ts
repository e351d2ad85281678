import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

/** One sign-in of a user into one organization; deleted when it ends. Stored under `platformTenant`; the document id is the session id that tokens carry. */
export const Session = z.strictObject({
  userId: z.string(),
  tenantId: z.string(),
  /** When the user proved who they are: how long a session can be refreshed counts from here, also across organizations. */
  signedInAt: z.iso.datetime(),
  /** ISO-8601 UTC; the session ends then, even if its tokens are valid longer. */
  expiresAt: z.iso.datetime(),
  /** Where it was begun, for the list of one's own sessions. */
  address: z.string(),
  userAgent: z.string().max(512),
  /** Hex SHA-256 of the refresh token in force. */
  refreshHash: z.string(),
  /** Of the one before it, which for a moment gives the same successor. */
  previousRefreshHash: z.string().nullable(),
  refreshedAt: z.iso.datetime(),
  /** The organization whose identity provider vouched for the user: the session is good for no other one. Absent after a password. */
  provedBy: z.string().optional(),
});
export type Session = z.output<typeof Session>;

export const sessions = defineCollection<Session>({
  name: 'sessions',
  indexes: [['userId'], ['expiresAt'], ['tenantId']],
});
export const sessionsTenant = platformTenant;
