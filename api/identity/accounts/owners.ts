import type { Documents } from '../../../schemas/ports/documents.ts';
import { memberships, users, usersTenant } from '../../../schemas/resources/user.ts';
import { ApiError } from '../../errors.ts';

/** Addresses of the active Owners of an organization. */
export const readOwnerAddresses = async (
  scope: Pick<Documents, 'forTenant'>,
  tenantId: string,
): Promise<readonly string[]> => {
  const { items } = await scope
    .forTenant(tenantId)
    .collection(memberships)
    .list({ filter: { role: 'owner' } });
  const people = scope.forTenant(usersTenant).collection(users);
  const owners = await Promise.all(items.filter(({ disabled }) => !disabled).map(({ id }) => people.find(id)));
  return owners.flatMap((user) => (user === undefined || user.disabled ? [] : [user.email]));
};

/**
 * Rejects a change that leaves an organization without an active Owner. Call it last in the transaction. It also works
 * for concurrent changes: each appends to the organization's audit chain, so the later one restarts and sees the
 * earlier one.
 */
export const requireOwner = async (scope: Pick<Documents, 'forTenant'>, tenantId: string): Promise<void> => {
  if ((await readOwnerAddresses(scope, tenantId)).length > 0) return;
  throw new ApiError('CONFLICT', 'this is the last Owner of the organization: make another user an Owner first');
};
