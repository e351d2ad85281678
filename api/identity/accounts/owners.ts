import type { Documents } from '../../../schemas/ports/documents.ts';
import { memberships, users, usersTenant } from '../../../schemas/resources/user.ts';
import { ApiError } from '../../errors.ts';

/** Addresses of the active Owners of an organization. */
export const ownersOf = async (scope: Pick<Documents, 'of'>, tenantId: string): Promise<readonly string[]> => {
  const { items } = await scope
    .of(tenantId)
    .collection(memberships)
    .list({ filter: { role: 'owner' } });
  const people = scope.of(usersTenant).collection(users);
  const found = await Promise.all(items.filter(({ disabled }) => !disabled).map(({ id }) => people.find(id)));
  return found.flatMap((user) => (user === undefined || user.disabled ? [] : [user.email]));
};

/**
 * Rejects a change that leaves an organization without an active Owner. Call it last in the transaction. It also works
 * for concurrent changes: each appends to the organization's audit chain, so the later one restarts and sees the
 * earlier one.
 */
export const requireOwner = async (scope: Pick<Documents, 'of'>, tenantId: string): Promise<void> => {
  if ((await ownersOf(scope, tenantId)).length > 0) return;
  throw new ApiError('CONFLICT', 'this is the last Owner of the organization: make another user an Owner first');
};
