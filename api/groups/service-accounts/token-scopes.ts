import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { apiTokens } from '../../../schemas/resources/service-account.ts';
import { coversScope } from '../../../schemas/scopes.ts';
import type { Caller } from '../../callers/caller.ts';
import { ApiError } from '../../errors.ts';

/** Maximum number of tokens per account */
export const maxTokens = 100;

/** Throws 403 for scopes that the caller does not have: a token cannot create one with more permissions. */
export const requireOwnScopes = ({ scopes }: Caller, requestedScopes: readonly string[]): void => {
  const missingScopes = requestedScopes.filter((scope) => !coversScope(scopes, scope));
  if (missingScopes.length > 0)
    throw new ApiError('FORBIDDEN', `this API token lacks ${missingScopes.join(', ')} and cannot grant what it lacks`);
};

/**
 * Throws 403 if the caller is an API token, and the account has tokens with scopes that the caller does not have: a
 * change of the account could give these tokens more permissions.
 */
export const requireOwnTokenScopes = async (
  documents: TenantDocuments,
  accountId: string,
  caller: Caller,
): Promise<void> => {
  if (caller.kind === 'person') return;
  const { items } = await documents
    .collection(apiTokens)
    .list({ filter: { serviceAccountId: accountId }, limit: maxTokens });
  for (const { scopes } of items) requireOwnScopes(caller, scopes);
};
