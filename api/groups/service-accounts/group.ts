import { apiTokens, apiTokenUses } from '../../../schemas/resources/service-account.ts';
import { defineGroup } from '../define-group.ts';
import { createToken } from './tokens.ts';
import { listScopes } from './tokens.ts';
import { listTokens } from './tokens.ts';
import { removeAccount } from './accounts.ts';
import { serviceAccountResource } from './accounts.ts';
import { revokeToken } from './tokens.ts';

export const serviceAccountsGroup = defineGroup({
  name: 'service-accounts',
  summary: 'Service accounts for programs, their API tokens and scopes.',
  resources: [serviceAccountResource],
  operations: [removeAccount, listTokens, createToken, revokeToken, listScopes],
  collections: [apiTokens, apiTokenUses],
});
