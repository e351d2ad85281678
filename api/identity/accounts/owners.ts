import type { Documents } from '../../../schemas/ports/documents.ts';
import { memberships, users, usersTenant } from '../../../schemas/resources/user.ts';
import { ApiError } from '../../kernel/errors.ts';

/**
 * Refuses a change that leaves an organization without an active Owner. Call it last in the transaction. It holds for
 * concurrent changes too: each appends to the organization's audit chain, so the later of two starts again and sees the
 * earlier one.
 */
export const requireOwner = async (scope: Pick<Documents, 'of'>, tenantId: string): Promise<void> => {
  const { items } = await scope
    .of(tenantId)
    .collection(memberships)
    .list({ filter: { role: 'owner' } });
  const people = scope.of(usersTenant).collection(users);
  for (const { id, disabled } of items) {
    if (disabled) continue;
    const user = await people.find(id);
    if (user !== undefined && !user.disabled) return;
  }
  throw new ApiError('CONFLICT', 'this is the last Owner of the organization: make another user an Owner first');
};

/** Owners of an organization, as mail reaches them. */
export const ownersOf = async (scope: Pick<Documents, 'of'>, tenantId: string): Promise<readonly string[]> => {
  const { items } = await scope
    .of(tenantId)
    .collection(memberships)
    .list({ filter: { role: 'owner' } });
  const people = scope.of(usersTenant).collection(users);
  const found = await Promise.all(items.filter(({ disabled }) => !disabled).map(({ id }) => people.find(id)));
  return found.flatMap((user) => (user === undefined || user.disabled ? [] : [user.email]));
};
