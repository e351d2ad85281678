import { z } from 'zod';
import { memberships, roles } from '../../../schemas/resources/user.ts';
import { requireOwner } from '../../identity/accounts/owners.ts';
import { refuseGrant } from '../../identity/rights.ts';
import { refuseGiving } from '../../identity/scopes.ts';
import { removeSessions } from '../../identity/sessions.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { etagOf, preconditionOf, requireVersion } from '../../resources/preconditions.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { findMember, Member, memberOf, recordedMember, serverOwnedOfMember } from './member.ts';

export const patchUser = defineOperation({
  method: 'PATCH',
  path: '/api/users/{id}',
  operationId: 'updateUser',
  summary: 'Change a member’s role, or disable the member, with immediate effect. The last Owner cannot be changed',
  role: 'admin',
  audit: 'user.update',
  versions: 'write',
  params: idParameter,
  body: z.strictObject({
    role: z.enum(roles).optional().describe('At most your own role'),
    disabled: z
      .boolean()
      .optional()
      .describe('true ends the member’s sessions in this organization and prevents new ones'),
  }),
  serverOwned: serverOwnedOfMember,
  response: Member,
  async handler({ caller, params, body, request, change }, { documents, scopes }) {
    const { tenantId } = caller;
    const member = await change(async (scope) => {
      const { membership, user } = await findMember(scope, tenantId, params.id);
      requireVersion(membership, preconditionOf(request), { noun: 'user', requiresIfMatch: false });
      refuseGrant(caller, membership.role, body.role);
      const { role = membership.role, disabled = membership.disabled ?? false } = body;
      const was = membership.disabled ?? false;
      if (role === membership.role && disabled === was) {
        scope.unchanged();
        return { user, membership };
      }
      const isLetIn = was && !disabled;
      if (role !== membership.role || isLetIn) refuseGiving(role, caller, scopes);
      const after = await scope.of(tenantId).collection(memberships).update(user.id, { role, disabled });
      if (disabled) await removeSessions(scope, { userId: user.id, tenantId });
      await requireOwner(scope, tenantId);
      const states = { before: recordedMember(user, membership), after: recordedMember(user, after) };
      scope.record({ id: user.id, name: user.email, ...states });
      return { user, membership: after };
    });
    request.reply('ETag', etagOf(member.membership));
    return memberOf(documents, member);
  },
});
