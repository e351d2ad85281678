import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { memberships } from '../../schemas/resources/user.ts';
import { invalid } from '../errors.ts';

type Own = Pick<TenantDocuments, 'collection'>;

/** The first of them who is no user of the organization. */
export const unknownMember = async (documents: Own, userIds: Iterable<string>): Promise<string | undefined> => {
  const members = documents.collection(memberships);
  for (const userId of new Set(userIds)) if ((await members.find(userId)) === undefined) return userId;
  return undefined;
};

/** Refuses an assignee who is no user of the organization; nobody is fine. */
export const requireMember = async (documents: Own, assigneeId: string | null | undefined): Promise<void> => {
  if (typeof assigneeId !== 'string') return;
  if ((await unknownMember(documents, [assigneeId])) !== undefined)
    throw invalid('assigneeId', 'is no user of this organization');
};
