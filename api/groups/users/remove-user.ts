import { z } from 'zod';
import { preferences } from '../../../schemas/resources/preferences.ts';
import { memberships } from '../../../schemas/resources/user.ts';
import { requireOwner } from '../../identity/accounts/owners.ts';
import { refuseGrant } from '../../identity/rights.ts';
import { removeSessions } from '../../identity/sessions.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { findMember, recordedMember } from './member.ts';

export const removeUser = defineOperation({
  method: 'DELETE',
  path: '/api/users/{id}',
  operationId: 'removeUser',
  summary:
    'Remove a member from the organization and end the member’s sessions in it. The last Owner cannot be removed',
  role: 'admin',
  audit: 'user.remove',
  params: idParameter,
  response: z.strictObject({}),
  async handler({ caller, params, change }) {
    const { tenantId } = caller;
    await change(async (scope) => {
      const { membership, user } = await findMember(scope, tenantId, params.id);
      refuseGrant(caller, membership.role);
      await scope.of(tenantId).collection(memberships).delete(user.id);
      await scope.of(tenantId).collection(preferences).delete(user.id);
      await removeSessions(scope, { userId: user.id, tenantId });
      await requireOwner(scope, tenantId);
      scope.record({ id: user.id, name: user.email, before: recordedMember(user, membership) });
    });
    return {};
  },
});
