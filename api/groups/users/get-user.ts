import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { findMember, Member, memberOf } from './member.ts';

export const getUser = defineOperation({
  method: 'GET',
  path: '/api/users/{id}',
  operationId: 'getUser',
  summary: 'Get a user of the organization',
  role: 'admin',
  params: idParameter,
  response: Member,
  async handler({ caller, params }, { documents }) {
    return memberOf(documents, await findMember(documents, caller.tenantId, params.id));
  },
});
