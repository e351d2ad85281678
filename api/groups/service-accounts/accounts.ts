import { z } from 'zod';
import {
  apiTokens,
  apiTokenUses,
  ServiceAccount,
  serviceAccountRoles,
  serviceAccounts,
} from '../../../schemas/resources/service-account.ts';
import { requireRoleNotAbove } from '../../callers/rights.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { parsePrecondition } from '../../resources/preconditions.ts';
import { defineResource } from '../../resources/resource.ts';
import { createEqualsFilter } from '../../resources/resource-list.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { maxTokens, requireOwnTokenScopes } from './token-scopes.ts';

/** Service accounts. `removeAccount` deletes one with its tokens. */
export const serviceAccountResource = defineResource({
  noun: 'service account',
  path: '/api/service-accounts',
  collection: serviceAccounts,
  verbs: ['list', 'create', 'read', 'patch'],
  roles: { read: 'admin', write: 'admin' },
  fields: ServiceAccount,
  example: { name: 'Deployments', description: 'Reports deployments from the pipeline', role: 'editor' },
  list: {
    filters: { role: createEqualsFilter('role', z.enum(serviceAccountRoles)) },
    searched: ['name', 'description'],
  },
  async prepare(after, { caller, before, forTenant }) {
    requireRoleNotAbove(caller, before?.role, after.role);
    if (before !== undefined && (before.role !== after.role || before.disabled !== after.disabled))
      await requireOwnTokenScopes(forTenant(caller.tenantId), before.id, caller);
    return after;
  },
});

export const removeAccount = defineOperation({
  method: 'DELETE',
  path: '/api/service-accounts/{id}',
  operationId: 'deleteServiceAccount',
  summary: 'Delete a service account and its tokens, which stop working immediately',
  role: 'admin',
  audit: 'service-account.delete',
  versions: 'write',
  params: idParameter,
  response: z.strictObject({}),
  async handler({ caller, params: { id }, request, change }) {
    const { tenantId } = caller;
    await change(async (scope) => {
      const { role } = await serviceAccountResource
        .createWriter(scope, caller)
        .remove(id, { precondition: parsePrecondition(request) });
      requireRoleNotAbove(caller, role);
      const documents = scope.forTenant(tenantId);
      const tokenCollection = documents.collection(apiTokens);
      const { items } = await tokenCollection.list({ filter: { serviceAccountId: id }, limit: maxTokens });
      for (const token of items) {
        await tokenCollection.delete(token.id);
        await documents.collection(apiTokenUses).delete(token.id);
      }
    });
    return {};
  },
});
