import { z } from 'zod';
import { ServiceAccount, serviceAccountRoles, serviceAccounts } from '../../../schemas/resources/service-account.ts';
import { refuseRoleAbove } from '../../identity/rights.ts';
import { defineResource } from '../../resources/resource.ts';
import { equals } from '../../resources/resource-list.ts';
import { refuseWiderTokens } from './wider-tokens.ts';

/** Service accounts. Their deletion, which takes their tokens along, is an operation of its own. */
export const serviceAccountResource = defineResource({
  noun: 'service account',
  path: '/api/service-accounts',
  collection: serviceAccounts,
  verbs: ['list', 'create', 'read', 'patch'],
  roles: { read: 'admin', write: 'admin' },
  fields: ServiceAccount,
  example: { name: 'Deployments', description: 'Reports deployments from the pipeline', role: 'editor' },
  list: { filters: { role: equals('role', z.enum(serviceAccountRoles)) }, searched: ['name', 'description'] },
  async prepare(after, { caller, before, of }) {
    refuseRoleAbove(caller, before?.role, after.role);
    if (before !== undefined && (before.role !== after.role || before.disabled !== after.disabled))
      await refuseWiderTokens(of(caller.tenantId), before.id, caller);
    return after;
  },
});
