import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

/**
 * A message that is to leave, written in the transaction of the change that it tells of and removed once it was sent. Stored
 * under `platformTenant`.
 */
export const OutgoingMail = z.strictObject({
  /** The message, encrypted: it may hold a link that lets its receiver in. Empty once it was given up. */
  sealed: z.string(),
  /** When to send it. Whoever sends moves it on first, so that nobody else does meanwhile. */
  dueAt: z.iso.datetime(),
  attempts: z.int().min(0),
  /** After it the message is of no use to anybody. */
  expiresAt: z.iso.datetime(),
  failedAt: z.iso.datetime().nullable(),
  /** What the last attempt ran into. */
  problem: z.string(),
});
export type OutgoingMail = z.output<typeof OutgoingMail>;

export const outgoingMails = defineCollection<OutgoingMail>({ name: 'outgoing-mails' });
export const outgoingMailsTenant = platformTenant;
