import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

/**
 * A message that is to leave, written in the transaction of the change that it tells of and removed once it was sent. Stored
 * under `platformTenant`.
 */
export const OutgoingMail = z.strictObject({
  /** The message, encrypted: it may hold a link that lets its receiver in. Empty once it was given up. */
  sealed: z.string(),
  /** When to send it. A sender first moves it ahead, so that no other sends it at the same time. */
  dueAt: z.iso.datetime(),
  attempts: z.int().min(0),
  /** After this the message is useless and is not sent. */
  expiresAt: z.iso.datetime(),
  failedAt: z.iso.datetime().nullable(),
  /** What the last attempt ran into. */
  problem: z.string(),
});
export type OutgoingMail = z.output<typeof OutgoingMail>;

export const outgoingMails = defineCollection<OutgoingMail>({ name: 'outgoing-mails' });
export const outgoingMailsTenant = platformTenant;
