import { hash, randomBytes } from 'node:crypto';
import { deleteMatching } from '../../../runtime/delete-matching.ts';
import type { Documents, StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type OneTimeToken, oneTimeTokens, oneTimeTokensTenant } from '../../../schemas/resources/one-time-token.ts';
import { ApiError } from '../../errors.ts';

type Purpose = OneTimeToken['purpose'];
type TokenForPurpose<Name extends Purpose> = Extract<OneTimeToken, { purpose: Name }>;

const createInvalidTokenError = (): ApiError =>
  new ApiError('TOKEN_INVALID', 'this link is invalid, was already used, or has expired; request a new one');

const getTokenCollection = (scope: Pick<Documents, 'forTenant'>) =>
  scope.forTenant(oneTimeTokensTenant).collection(oneTimeTokens);

const hashToken = (token: string): string => hash('sha256', token);

/** Creates a token and stores its fields under its hash. The token itself is not stored: only the mail contains it. */
export const createToken = async (
  scope: Pick<Documents, 'forTenant'>,
  fields: OneTimeToken,
): Promise<{ readonly token: string; readonly tokenHash: string }> => {
  const token = randomBytes(32).toString('base64url');
  const tokenHash = hashToken(token);
  await getTokenCollection(scope).insert({ id: tokenHash, ...fields });
  return { token, tokenHash };
};

/** Returns a token; throws `TOKEN_INVALID` if it is wrong, used, expired, or for another purpose. */
export const findToken = async <Name extends Purpose>(
  scope: Pick<Documents, 'forTenant'>,
  token: string,
  purposes: readonly Name[],
  now: number,
): Promise<TokenForPurpose<Name> & StoredMetadata> => {
  const storedToken = await getTokenCollection(scope).find(hashToken(token));
  if (storedToken === undefined || Date.parse(storedToken.expiresAt) <= now) throw createInvalidTokenError();
  if (!(purposes as readonly Purpose[]).includes(storedToken.purpose)) throw createInvalidTokenError();
  return storedToken as TokenForPurpose<Name> & StoredMetadata;
};

/**
 * Consumes a token within the transaction that it authorizes; throws `TOKEN_INVALID` if it was used in the meantime.
 */
export const consumeToken = async (scope: Pick<Documents, 'forTenant'>, { id }: StoredMetadata): Promise<void> => {
  if (!(await getTokenCollection(scope).delete(id))) throw createInvalidTokenError();
};

/** Invalidates earlier tokens of a user or an address. */
export const invalidateTokens = (
  scope: Pick<Documents, 'forTenant'>,
  owner: { readonly userId: string } | { readonly email: string },
): Promise<number> => deleteMatching(getTokenCollection(scope), { ...owner });

/** Deletes expired tokens. */
export const deleteExpiredOneTimeTokens = async (documents: Documents, now: number): Promise<void> => {
  await deleteMatching(getTokenCollection(documents), { expiresAt: { $lt: new Date(now).toISOString() } });
};
