import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { apiTokens } from '../../../schemas/resources/service-account.ts';
import type { Caller } from '../../callers/caller.ts';
import { coversScope } from '../../callers/scopes.ts';
import { ApiError } from '../../errors.ts';

/** Tokens that an account can have at once. */
export const maxTokens = 100;

/** 403 for scopes that the caller lacks: a token cannot create one with more rights. */
export const refuseWiderScopes = ({ scopes }: Caller, requestedScopes: readonly string[]): void => {
  const beyond = requestedScopes.filter((scope) => !coversScope(scopes, scope));
  if (beyond.length > 0)
    throw new ApiError('FORBIDDEN', `this API token lacks ${beyond.join(', ')} and cannot grant what it lacks`);
};

/** 403 for an API token that would give more rights to an account whose tokens have scopes that it lacks. */
export const refuseWiderTokens = async (
  documents: TenantDocuments,
  accountId: string,
  caller: Caller,
): Promise<void> => {
  if (caller.kind === 'person') return;
  const { items } = await documents
    .collection(apiTokens)
    .list({ filter: { serviceAccountId: accountId }, limit: maxTokens });
  for (const { scopes } of items) refuseWiderScopes(caller, scopes);
};
