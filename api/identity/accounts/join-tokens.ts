/** Uses the link of an invitation, or of the confirmation of a registration. */
import { randomUUID } from 'node:crypto';
import type { Documents, StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type Invitation, invitations } from '../../../schemas/resources/invitation.ts';
import { type OneTimeToken, oneTimeTokens, oneTimeTokensTenant } from '../../../schemas/resources/one-time-token.ts';
import { type Organization, organizations, organizationsTenant } from '../../../schemas/resources/organization.ts';
import { outgoingMails, outgoingMailsTenant } from '../../../schemas/resources/outgoing-mail.ts';
import { type Membership, memberships, type User, users, usersTenant } from '../../../schemas/resources/user.ts';
import type { AuditedTransaction } from '../../changes.ts';
import { ApiError } from '../../errors.ts';
import type { IdentityPorts } from '../ports.ts';
import { consumeToken } from './one-time-tokens.ts';
import { insertOrganization } from './organization.ts';

export type JoinToken = Extract<OneTimeToken, { purpose: 'invitation' | 'registration' }> & StoredMetadata;

const createInvalidInvitationError = (): ApiError =>
  new ApiError('TOKEN_INVALID', 'this invitation was withdrawn, or its organization was deleted; request a new one');

/** Address to which the token was mailed. */
export const readTokenAddress = async (
  { documents }: Pick<IdentityPorts, 'documents'>,
  token: JoinToken,
): Promise<string> => {
  if (token.purpose === 'registration') return token.email;
  const invitation = await documents.forTenant(token.tenantId).collection(invitations).find(token.invitationId);
  if (invitation === undefined) throw createInvalidInvitationError();
  return invitation.email;
};

export interface JoinResult {
  readonly user: User & StoredMetadata;
  readonly organization: Organization & StoredMetadata;
  readonly membership: Membership & StoredMetadata;
}

/** The joining person: an existing user, or the document of a new one. */
export type JoiningUser = { readonly existingUser: User & StoredMetadata } | { readonly newUser: User };

/**
 * Redeems the token and creates the membership, within a change that declares `user.join` and `organization.create`.
 */
export const redeemJoinToken = async (
  scope: AuditedTransaction,
  token: JoinToken,
  joiningUser: JoiningUser,
  { planId }: { readonly planId: string },
): Promise<JoinResult> => {
  await consumeToken(scope, token);
  const userCollection = scope.forTenant(usersTenant).collection(users);
  const user =
    'existingUser' in joiningUser
      ? await userCollection.find(joiningUser.existingUser.id)
      : await userCollection.insert({ id: randomUUID(), ...joiningUser.newUser });
  if (user === undefined) throw createInvalidInvitationError();
  if (token.purpose === 'registration') {
    const createdOrganization = await insertOrganization(scope, { name: token.organization, owner: user, planId });
    return { user, ...createdOrganization };
  }
  return { user, ...(await acceptInvitation(scope, token, user)) };
};

const acceptInvitation = async (
  { forTenant, record }: AuditedTransaction,
  { tenantId, invitationId }: Extract<JoinToken, { purpose: 'invitation' }>,
  user: User & StoredMetadata,
): Promise<Omit<JoinResult, 'user'>> => {
  const invitationCollection = forTenant(tenantId).collection(invitations);
  const invitation = await invitationCollection.find(invitationId);
  const organization = await forTenant(organizationsTenant).collection(organizations).find(tenantId);
  if (invitation === undefined || organization === undefined || organization.disabled)
    throw createInvalidInvitationError();
  const membershipCollection = forTenant(tenantId).collection(memberships);
  if ((await membershipCollection.find(user.id)) !== undefined)
    throw new ApiError('CONFLICT', `${user.email} is already a member of the organization; sign in`);
  await invitationCollection.delete(invitationId);
  const membership = await membershipCollection.insert({ id: user.id, role: invitation.role });
  record({
    action: 'user.join',
    tenantId,
    id: user.id,
    name: user.email,
    after: { email: user.email, name: user.name, role: invitation.role, invitedBy: invitation.invitedBy },
    actor: { type: 'user', id: user.id, name: user.email },
  });
  return { organization, membership };
};

/** Removes an invitation with its token, and its unsent mail. */
export const deleteInvitation = async (
  scope: Pick<Documents, 'forTenant'>,
  tenantId: string,
  { id, tokenHash, mailId }: Invitation & StoredMetadata,
): Promise<void> => {
  await scope.forTenant(tenantId).collection(invitations).delete(id);
  await scope.forTenant(oneTimeTokensTenant).collection(oneTimeTokens).delete(tokenHash);
  await scope.forTenant(outgoingMailsTenant).collection(outgoingMails).delete(mailId);
};
