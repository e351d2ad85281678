import type { Documents, Stored } from '../../../schemas/ports/documents.ts';
import { type Invitation, invitations } from '../../../schemas/resources/invitation.ts';
import { oneTimeTokens, oneTimeTokensTenant } from '../../../schemas/resources/one-time-token.ts';
import { outgoingMails, outgoingMailsTenant } from '../../../schemas/resources/outgoing-mail.ts';

/** Removes an invitation with its token, and its message where that has not left yet. */
export const withdraw = async (
  scope: Pick<Documents, 'of'>,
  tenantId: string,
  { id, tokenHash, mailId }: Invitation & Stored,
): Promise<void> => {
  await scope.of(tenantId).collection(invitations).delete(id);
  await scope.of(oneTimeTokensTenant).collection(oneTimeTokens).delete(tokenHash);
  await scope.of(outgoingMailsTenant).collection(outgoingMails).delete(mailId);
};
