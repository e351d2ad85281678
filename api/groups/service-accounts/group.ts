import { apiTokens, apiTokenUses } from '../../../schemas/resources/service-account.ts';
import { defineGroup } from '../define-group.ts';
import { createToken } from './create-token.ts';
import { listScopes } from './list-scopes.ts';
import { listTokens } from './list-tokens.ts';
import { removeAccount } from './remove-account.ts';
import { serviceAccountResource } from './resource.ts';
import { revokeToken } from './revoke-token.ts';

export const serviceAccountsGroup = defineGroup({
  name: 'service-accounts',
  summary: 'Service accounts for programs, their API tokens and scopes.',
  resources: [serviceAccountResource],
  operations: [removeAccount, listTokens, createToken, revokeToken, listScopes],
  collections: [apiTokens, apiTokenUses],
});
