import type { Documents } from '../../../schemas/ports/documents.ts';
import { memberships, users, usersTenant } from '../../../schemas/resources/user.ts';
import { ApiError } from '../../errors.ts';

/** Returns the e-mail addresses of the active Owners of an organization. */
export const readOwnerAddresses = async (
  scope: Pick<Documents, 'forTenant'>,
  tenantId: string,
): Promise<readonly string[]> => {
  const { items } = await scope
    .forTenant(tenantId)
    .collection(memberships)
    .list({ filter: { role: 'owner' } });
  const userCollection = scope.forTenant(usersTenant).collection(users);
  const owners = await Promise.all(items.filter(({ disabled }) => !disabled).map(({ id }) => userCollection.find(id)));
  return owners.flatMap((user) => (user === undefined || user.disabled ? [] : [user.email]));
};

/**
 * Throws if an organization has no active Owner after a change. Call it last in the transaction. This is also safe
 * for concurrent changes: each one writes the organization's audit chain, so the later change is retried and reads
 * the earlier one.
 */
export const requireOwner = async (scope: Pick<Documents, 'forTenant'>, tenantId: string): Promise<void> => {
  if ((await readOwnerAddresses(scope, tenantId)).length > 0) return;
  throw new ApiError('CONFLICT', 'this is the last Owner of the organization: make another user an Owner first');
};
