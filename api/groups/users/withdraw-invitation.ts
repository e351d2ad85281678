import { z } from 'zod';
import { invitations } from '../../../schemas/resources/invitation.ts';
import { withdraw } from '../../identity/accounts/invitations.ts';
import { refuseGrant } from '../../identity/rights.ts';
import { notFound } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { recordedInvitation } from './invitation-view.ts';

export const withdrawInvitation = defineOperation({
  method: 'DELETE',
  path: '/api/users/invitations/{id}',
  operationId: 'withdrawInvitation',
  summary: 'Withdraw an invitation; its link stops working',
  role: 'admin',
  audit: 'invitation.withdraw',
  params: idParameter,
  response: z.strictObject({}),
  async handler({ caller, params, change }) {
    await change(async (scope) => {
      const invitation = await scope.of(caller.tenantId).collection(invitations).find(params.id);
      if (invitation === undefined) throw notFound('invitation');
      refuseGrant(caller, invitation.role);
      await withdraw(scope, caller.tenantId, invitation);
      scope.record({ id: invitation.id, name: invitation.email, before: recordedInvitation(invitation) });
    });
    return {};
  },
});
