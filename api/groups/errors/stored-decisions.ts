/** Users’ decisions about groups of errors, for every group of operations that reads errors. */

import type { Collection, Documents, StoredMetadata } from '../../../schemas/ports/documents.ts';
import { errorGroupStates, errorMerges } from '../../../schemas/resources/error-group.ts';
import type { ErrorDecisions } from '../../../subjects/errors/merges.ts';

/**
 * Maximum number of groups with a decision, and of merged fingerprints, per organization: every list of errors reads all
 * of them.
 */
export const maxDecisions = 10_000;

const readAll = async <Fields extends object>(collection: Collection<Fields>): Promise<(Fields & StoredMetadata)[]> => {
  const allDocuments: (Fields & StoredMetadata)[] = [];
  for (let after: string | undefined; allDocuments.length < maxDecisions; ) {
    const { items, nextCursor } = await collection.list({ limit: 1_000, after });
    allDocuments.push(...items);
    if (nextCursor === null) break;
    after = nextCursor;
  }
  return allDocuments;
};

/** Returns the decisions about the groups of an organization. */
export const readDecisions = async (
  documents: Pick<Documents, 'forTenant'>,
  tenantId: string,
): Promise<ErrorDecisions> => {
  const tenantDocuments = documents.forTenant(tenantId);
  const [states, merges] = await Promise.all([
    readAll(tenantDocuments.collection(errorGroupStates)),
    readAll(tenantDocuments.collection(errorMerges)),
  ]);
  return { states, merges };
};
