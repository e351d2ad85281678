import { z } from 'zod';
import type { Stored } from '../../../schemas/ports/documents.ts';
import type { Invitation } from '../../../schemas/resources/invitation.ts';
import { roles } from '../../../schemas/resources/user.ts';
import type { Ports } from '../../kernel/ports.ts';

/** An invitation as administrators see it: never the token. */
export const InvitationView = z.strictObject({
  id: z.string(),
  email: z.string(),
  role: z.enum(roles),
  invitedBy: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  expired: z.boolean(),
  mail: z
    .enum(['queued', 'sent', 'failed', 'not-configured'])
    .describe('State of the mail; without a mail server it is written to outbox.jsonl in the data directory'),
});

export const viewOf = async (
  { id, email, role, invitedBy, createdAt, expiresAt, mailId }: Invitation & Stored,
  { mail, clock }: Pick<Ports, 'mail' | 'clock'>,
): Promise<z.output<typeof InvitationView>> => ({
  ...{ id, email, role, invitedBy, createdAt, expiresAt },
  expired: Date.parse(expiresAt) <= clock.now(),
  mail: await mail.deliveryOf(mailId),
});

/** What the audit log tells of an invitation. */
export const recordedInvitation = ({ email, role, expiresAt }: Invitation) => ({ email, role, expiresAt });
