/** Decisions of people about groups of errors, for every group of operations that reads errors. */

import type { Collection, Documents, Stored } from '../../../schemas/ports/documents.ts';
import { errorGroupStates, errorMerges } from '../../../schemas/resources/error-group.ts';
import type { Decisions } from '../../../subjects/errors/merges.ts';

/**
 * Maximum number of groups with a decision, and of merged fingerprints, per organization: people create them, and each
 * list reads all of them.
 */
export const maxDecisions = 10_000;

const allOf = async <Fields extends object>(collection: Collection<Fields>): Promise<(Fields & Stored)[]> => {
  const found: (Fields & Stored)[] = [];
  for (let after: string | undefined; found.length < maxDecisions; ) {
    const { items, nextCursor } = await collection.list({ limit: 1_000, after });
    found.push(...items);
    if (nextCursor === null) break;
    after = nextCursor;
  }
  return found;
};

/** Returns the decisions about the groups of an organization. */
export const decisionsOf = async (documents: Pick<Documents, 'of'>, tenantId: string): Promise<Decisions> => {
  const own = documents.of(tenantId);
  const [states, merges] = await Promise.all([
    allOf(own.collection(errorGroupStates)),
    allOf(own.collection(errorMerges)),
  ]);
  return { states, merges };
};
