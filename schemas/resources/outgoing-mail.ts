import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

/**
 * An email to send, written in the transaction of the related change and deleted after sending. Stored under
 * `platformTenant`.
 */
export const OutgoingMail = z.strictObject({
  /** The encrypted email: it may contain a sign-in link. Empty once sending was abandoned. */
  sealed: z.string(),
  /** Time to send it. A sender first postpones it, so that no other sender sends it at the same time. */
  dueAt: z.iso.datetime(),
  attempts: z.int().min(0),
  /** After this time the email is useless and is not sent. */
  expiresAt: z.iso.datetime(),
  failedAt: z.iso.datetime().nullable(),
  /** Error of the last attempt. */
  problem: z.string(),
});
export type OutgoingMail = z.output<typeof OutgoingMail>;

export const outgoingMails = defineCollection<OutgoingMail>({ name: 'outgoing-mails' });
export const outgoingMailsTenant = platformTenant;
