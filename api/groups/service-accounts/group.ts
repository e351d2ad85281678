import { apiTokens, apiTokenUses } from '../../../schemas/resources/service-account.ts';
import { defineGroup } from '../define-group.ts';
import { removeAccount, serviceAccountResource } from './accounts.ts';
import { createToken, listScopes, listTokens, revokeToken } from './tokens.ts';

export const serviceAccountsGroup = defineGroup({
  name: 'service-accounts',
  summary: 'Service accounts for programs, their API tokens and scopes.',
  resources: [serviceAccountResource],
  operations: [removeAccount, listTokens, createToken, revokeToken, listScopes],
  collections: [apiTokens, apiTokenUses],
});
