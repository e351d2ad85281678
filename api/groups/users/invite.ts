import { z } from 'zod';
import { invitations } from '../../../schemas/resources/invitation.ts';
import { memberships, roles, users, usersTenant } from '../../../schemas/resources/user.ts';
import { withdraw } from '../../identity/accounts/invitations.ts';
import { invitationLetter } from '../../identity/accounts/letters.ts';
import { EmailAddress } from '../../identity/accounts/names.ts';
import { putToken } from '../../identity/accounts/one-time-tokens.ts';
import { refuseGrant } from '../../identity/rights.ts';
import { refuseGiving } from '../../identity/scopes.ts';
import type { AuditedTransaction } from '../../kernel/changes.ts';
import { ApiError, rateLimited } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { InvitationView, recordedInvitation, viewOf } from './invitation-view.ts';

const days = 7;
const lifetimeMs = days * 86_400_000;
/** Of one organization. */
const ofTenant = { rate: 1 / 6, burst: 200 };

export const invite = defineOperation({
  method: 'POST',
  path: '/api/users/invitations',
  operationId: 'createInvitation',
  summary: 'Invite a user by e-mail, with a role; a second invitation replaces the first and its link',
  role: 'admin',
  audit: ['invitation.create', 'invitation.withdraw'],
  body: z.strictObject({ email: EmailAddress, role: z.enum(roles).describe('At most your own role') }),
  response: InvitationView,
  async handler({ caller, body: { email, role }, change }, ports) {
    const { clock, counters, mail, settings } = ports;
    const { tenantId, actor, organization } = caller;
    refuseGrant(caller, role);
    refuseGiving(role, caller, ports.scopes);
    const { granted, retryAfterMs } = await counters.take(`invitations/${tenantId}`, ofTenant, 1);
    if (granted < 1) throw rateLimited('too many invitations at once; wait a moment', retryAfterMs);
    const expiresAt = new Date(clock.now() + lifetimeMs).toISOString();
    const invitation = await change(async (scope) => {
      await refuseMember(scope, tenantId, email);
      const open = scope.of(tenantId).collection(invitations);
      const [before] = (await open.list({ filter: { email } })).items;
      if (before !== undefined) {
        refuseGrant(caller, before.role);
        await withdraw(scope, tenantId, before);
        const states = { before: recordedInvitation(before) };
        scope.record({ action: 'invitation.withdraw', id: before.id, name: email, ...states });
      }
      const id = crypto.randomUUID();
      const { token, tokenHash } = await putToken(scope, {
        purpose: 'invitation',
        tenantId,
        invitationId: id,
        expiresAt,
      });
      const told = { to: email, organization: organization.name, invitedBy: actor.name, role, token, days };
      const mailId = await mail.put(scope, invitationLetter(settings, told), lifetimeMs);
      const made = await open.insert({ id, email, role, invitedBy: actor.name, expiresAt, tokenHash, mailId });
      scope.record({ id, name: email, after: recordedInvitation(made) });
      return made;
    });
    return viewOf(invitation, ports);
  },
});

const refuseMember = async ({ of }: AuditedTransaction, tenantId: string, email: string): Promise<void> => {
  const [user] = (await of(usersTenant).collection(users).list({ filter: { email } })).items;
  if (user === undefined || (await of(tenantId).collection(memberships).find(user.id)) === undefined) return;
  throw new ApiError('CONFLICT', `${email} is already a user of this organization`);
};
