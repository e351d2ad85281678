import type { Operation } from '../../kernel/operation.ts';
import { createToken } from './create-token.ts';
import { listScopes } from './list-scopes.ts';
import { listTokens } from './list-tokens.ts';
import { removeAccount } from './remove-account.ts';
import { serviceAccountResource } from './resource.ts';
import { revokeToken } from './revoke-token.ts';

export const serviceAccountsOperations: readonly Operation[] = [
  ...serviceAccountResource.operations,
  removeAccount,
  listTokens,
  createToken,
  revokeToken,
  listScopes,
];
