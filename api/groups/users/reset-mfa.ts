import { z } from 'zod';
import { multiFactors, multiFactorsTenant } from '../../../schemas/resources/multi-factor.ts';
import { memberships } from '../../../schemas/resources/user.ts';
import { resetFactorLetter } from '../../identity/accounts/letters.ts';
import type { Caller } from '../../identity/caller.ts';
import type { Directory } from '../../identity/directory.ts';
import { mayGrant, refuseGrant } from '../../identity/rights.ts';
import type { AuditedTransaction } from '../../kernel/changes.ts';
import { ApiError } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { findMember } from './member.ts';

export const resetMemberMultiFactor = defineOperation({
  method: 'DELETE',
  path: '/api/users/{id}/mfa',
  operationId: 'resetUserMultiFactor',
  summary: 'Remove the second factor of a member who lost it; the member is informed by mail',
  role: 'admin',
  audit: 'multi-factor.reset',
  params: idParameter,
  response: z.strictObject({}),
  async handler({ caller, params, change }, { directory, mail, settings }) {
    const { tenantId, actor, organization } = caller;
    await change(async (scope) => {
      const { membership, user } = await findMember(scope, tenantId, params.id);
      refuseGrant(caller, membership.role);
      await refuseElsewhere(scope, user.id, { caller, directory });
      if (!(await scope.of(multiFactorsTenant).collection(multiFactors).delete(user.id)))
        throw new ApiError('NOT_FOUND', `${user.email} has no second factor`);
      await mail.put(
        scope,
        resetFactorLetter(settings, { to: user.email, organization: organization.name, by: actor.name }),
      );
      scope.record({ id: user.id, name: user.email, before: { on: true }, after: { on: false } });
    });
    return {};
  },
});

/** A second factor guards every organization of its user: who removes it must be above them in each. */
const refuseElsewhere = async (
  { of }: AuditedTransaction,
  userId: string,
  { caller, directory }: { readonly caller: Caller; readonly directory: Directory },
): Promise<void> => {
  for (const { id } of directory.organizationsOf(userId)) {
    if (id === caller.tenantId) continue;
    const members = of(id).collection(memberships);
    const theirs = await members.find(userId);
    // An identity of one organization's provider is unknown in other organizations.
    const knownThere = caller.kind === 'person' && caller.provedBy === undefined;
    const own = knownThere ? await members.find(caller.userId) : undefined;
    const isAbove = own !== undefined && !own.disabled && ['admin', 'owner'].includes(own.role);
    if (theirs === undefined || (isAbove && mayGrant({ role: own.role, kind: 'person' }, theirs.role))) continue;
    throw new ApiError(
      'FORBIDDEN',
      'this user belongs to another organization too, whose members you do not administer: their second factor guards that one as well',
    );
  }
};
