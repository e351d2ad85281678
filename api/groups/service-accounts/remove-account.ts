import { z } from 'zod';
import { apiTokens, apiTokenUses } from '../../../schemas/resources/service-account.ts';
import { refuseRoleAbove } from '../../identity/rights.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { preconditionOf } from '../../resources/preconditions.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { serviceAccountResource } from './resource.ts';
import { mostTokens } from './wider-tokens.ts';

export const removeAccount = defineOperation({
  method: 'DELETE',
  path: '/api/service-accounts/{id}',
  operationId: 'deleteServiceAccount',
  summary: 'Delete a service account and its tokens, which stop working at once',
  role: 'admin',
  audit: 'service-account.delete',
  versions: 'write',
  params: idParameter,
  response: z.strictObject({}),
  async handler({ caller, params: { id }, request, change }) {
    const { tenantId } = caller;
    await change(async (scope) => {
      const { role } = await serviceAccountResource
        .writer(scope, caller)
        .remove(id, { precondition: preconditionOf(request) });
      refuseRoleAbove(caller, role);
      const documents = scope.of(tenantId);
      const stored = documents.collection(apiTokens);
      const { items } = await stored.list({ filter: { serviceAccountId: id }, limit: mostTokens });
      for (const token of items) {
        await stored.delete(token.id);
        await documents.collection(apiTokenUses).delete(token.id);
      }
    });
    return {};
  },
});
