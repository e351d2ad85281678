import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { memberships } from '../../schemas/resources/user.ts';
import { invalid } from '../errors.ts';

/** Refuses an assignee who is no user of the organization; nobody is fine. */
export const requireMember = async (
  documents: Pick<TenantDocuments, 'collection'>,
  assigneeId: string | null | undefined,
): Promise<void> => {
  if (typeof assigneeId !== 'string') return;
  if ((await documents.collection(memberships).find(assigneeId)) === undefined)
    throw invalid('assigneeId', 'is no user of this organization');
};
