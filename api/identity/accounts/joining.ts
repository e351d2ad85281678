/** Uses the link of an invitation, or of the confirmation of a registration. */
import { randomUUID } from 'node:crypto';
import type { Documents, Stored } from '../../../schemas/ports/documents.ts';
import { type Invitation, invitations } from '../../../schemas/resources/invitation.ts';
import { type OneTimeToken, oneTimeTokens, oneTimeTokensTenant } from '../../../schemas/resources/one-time-token.ts';
import { type Organization, organizations, organizationsTenant } from '../../../schemas/resources/organization.ts';
import { outgoingMails, outgoingMailsTenant } from '../../../schemas/resources/outgoing-mail.ts';
import { type Membership, memberships, type User, users, usersTenant } from '../../../schemas/resources/user.ts';
import type { AuditedTransaction } from '../../changes.ts';
import { ApiError } from '../../errors.ts';
import type { IdentityPorts } from '../ports.ts';
import { useToken } from './one-time-tokens.ts';
import { makeOrganization } from './organization.ts';

export type JoinToken = Extract<OneTimeToken, { purpose: 'invitation' | 'registration' }> & Stored;

const invalidInvitation = (): ApiError =>
  new ApiError('TOKEN_INVALID', 'this invitation was withdrawn, or its organization was deleted; request a new one');

/** Address to which the token was mailed. */
export const addressOfToken = async (
  { documents }: Pick<IdentityPorts, 'documents'>,
  token: JoinToken,
): Promise<string> => {
  if (token.purpose === 'registration') return token.email;
  const invitation = await documents.of(token.tenantId).collection(invitations).find(token.invitationId);
  if (invitation === undefined) throw invalidInvitation();
  return invitation.email;
};

export interface Joined {
  readonly user: User & Stored;
  readonly organization: Organization & Stored;
  readonly membership: Membership & Stored;
}

/** The joining person: an existing user, or the document of a new one. */
export type Joining = { readonly known: User & Stored } | { readonly fresh: User };

/**
 * Redeems the token and creates the membership, within a change that declares `user.join` and `organization.create`.
 */
export const join = async (
  scope: AuditedTransaction,
  token: JoinToken,
  joining: Joining,
  { planId }: { readonly planId: string },
): Promise<Joined> => {
  await useToken(scope, token);
  const people = scope.of(usersTenant).collection(users);
  const user =
    'known' in joining
      ? await people.find(joining.known.id)
      : await people.insert({ id: randomUUID(), ...joining.fresh });
  if (user === undefined) throw invalidInvitation();
  if (token.purpose === 'registration') {
    const made = await makeOrganization(scope, { name: token.organization, owner: user, planId });
    return { user, ...made };
  }
  return { user, ...(await acceptInvitation(scope, token, user)) };
};

const acceptInvitation = async (
  { of, record }: AuditedTransaction,
  { tenantId, invitationId }: Extract<JoinToken, { purpose: 'invitation' }>,
  user: User & Stored,
): Promise<Omit<Joined, 'user'>> => {
  const open = of(tenantId).collection(invitations);
  const invitation = await open.find(invitationId);
  const organization = await of(organizationsTenant).collection(organizations).find(tenantId);
  if (invitation === undefined || organization === undefined || organization.disabled) throw invalidInvitation();
  const members = of(tenantId).collection(memberships);
  if ((await members.find(user.id)) !== undefined)
    throw new ApiError('CONFLICT', `${user.email} is in the organization already; sign in`);
  await open.delete(invitationId);
  const membership = await members.insert({ id: user.id, role: invitation.role });
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
export const withdraw = async (
  scope: Pick<Documents, 'of'>,
  tenantId: string,
  { id, tokenHash, mailId }: Invitation & Stored,
): Promise<void> => {
  await scope.of(tenantId).collection(invitations).delete(id);
  await scope.of(oneTimeTokensTenant).collection(oneTimeTokens).delete(tokenHash);
  await scope.of(outgoingMailsTenant).collection(outgoingMails).delete(mailId);
};
