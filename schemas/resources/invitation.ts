import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import { roles } from './user.ts';

/** An invitation to join an organization, deleted when it is accepted or withdrawn. Stored under its tenant. */
export const Invitation = z.strictObject({
  email: z.email().describe('Email address in lower case'),
  role: z.enum(roles),
  /** Email address of the inviting user. */
  invitedBy: z.string(),
  expiresAt: z.iso.datetime(),
  /** ID of the one-time token. */
  tokenHash: z.string(),
  /** ID of the email. */
  mailId: z.string(),
});
export type Invitation = z.output<typeof Invitation>;

export const invitations = defineCollection<Invitation>({ name: 'invitations', unique: [['email']] });
