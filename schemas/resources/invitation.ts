import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import { roles } from './user.ts';

/** An invitation to join an organization; removed when it is accepted or withdrawn. Stored under its tenant. */
export const Invitation = z.strictObject({
  email: z.email().describe('Lower case'),
  role: z.enum(roles),
  /** E-mail address of who invited. */
  invitedBy: z.string(),
  expiresAt: z.iso.datetime(),
  /** Id of the one-time token. */
  tokenHash: z.string(),
  /** Id of the message. */
  mailId: z.string(),
});
export type Invitation = z.output<typeof Invitation>;

export const invitations = defineCollection<Invitation>({ name: 'invitations', unique: [['email']] });
