import { hash, randomBytes } from 'node:crypto';
import { deleteMatching } from '../../../runtime/delete-matching.ts';
import type { Documents, Stored } from '../../../schemas/ports/documents.ts';
import { type OneTimeToken, oneTimeTokens, oneTimeTokensTenant } from '../../../schemas/resources/one-time-token.ts';
import { ApiError } from '../../errors.ts';

type Purpose = OneTimeToken['purpose'];
type Of<Name extends Purpose> = Extract<OneTimeToken, { purpose: Name }>;

const invalidToken = (): ApiError =>
  new ApiError('TOKEN_INVALID', 'this link is wrong, was used already, or is too old; request a new one');

const storedIn = (scope: Pick<Documents, 'of'>) => scope.of(oneTimeTokensTenant).collection(oneTimeTokens);

const idOf = (token: string): string => hash('sha256', token);

/** Stores the permission of a new token. The token itself is not stored anywhere: it may only be in the mail. */
export const putToken = async (
  scope: Pick<Documents, 'of'>,
  fields: OneTimeToken,
): Promise<{ readonly token: string; readonly tokenHash: string }> => {
  const token = randomBytes(32).toString('base64url');
  const tokenHash = idOf(token);
  await storedIn(scope).insert({ id: tokenHash, ...fields });
  return { token, tokenHash };
};

/** Returns a token; throws `TOKEN_INVALID` if it is wrong, used, expired, or for another purpose. */
export const findToken = async <Name extends Purpose>(
  scope: Pick<Documents, 'of'>,
  token: string,
  purposes: readonly Name[],
  now: number,
): Promise<Of<Name> & Stored> => {
  const found = await storedIn(scope).find(idOf(token));
  if (found === undefined || Date.parse(found.expiresAt) <= now) throw invalidToken();
  if (!(purposes as readonly Purpose[]).includes(found.purpose)) throw invalidToken();
  return found as Of<Name> & Stored;
};

/**
 * Consumes a token within the transaction that it authorizes; throws `TOKEN_INVALID` if it was used in the meantime.
 */
export const useToken = async (scope: Pick<Documents, 'of'>, { id }: Stored): Promise<void> => {
  if (!(await storedIn(scope).delete(id))) throw invalidToken();
};

/** Invalidates earlier tokens of a user or an address. */
export const voidTokens = (
  scope: Pick<Documents, 'of'>,
  whose: { readonly userId: string } | { readonly email: string },
): Promise<number> => deleteMatching(storedIn(scope), { ...whose });

/** Deletes expired tokens. */
export const sweepTokens = async (documents: Documents, now: number): Promise<void> => {
  await deleteMatching(storedIn(documents), { expiresAt: { $lt: new Date(now).toISOString() } });
};
