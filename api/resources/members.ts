import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { memberships } from '../../schemas/resources/user.ts';
import { createFieldError } from '../errors.ts';

type TenantCollections = Pick<TenantDocuments, 'collection'>;

/** Returns the first id that is not a user of the organization. */
export const findUnknownMember = async (
  documents: TenantCollections,
  userIds: Iterable<string>,
): Promise<string | undefined> => {
  const members = documents.collection(memberships);
  for (const userId of new Set(userIds)) if ((await members.find(userId)) === undefined) return userId;
  return undefined;
};

/** Throws if there is an assignee who is not a user of the organization. */
export const requireMember = async (
  documents: TenantCollections,
  assigneeId: string | null | undefined,
): Promise<void> => {
  if (typeof assigneeId !== 'string') return;
  if ((await findUnknownMember(documents, [assigneeId])) !== undefined)
    throw createFieldError('assigneeId', 'is not a user of this organization');
};
