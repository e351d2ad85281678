/** Converts queries to return all groups, instead of the groups of a panel. */
import type { Query } from './query.ts';
import { changeParts, getQueryKind } from './query-kind.ts';

/** Returns the query with this maximum number of groups. In a formula or forecast, the maximum applies to each part. */
export const withMaxGroups = (query: Query, maxGroups: number): Query => {
  const queryWithChangedParts = changeParts(query, (part) => withMaxGroups(part, maxGroups));
  return getQueryKind(queryWithChangedParts).limitGroups?.(queryWithChangedParts, maxGroups) ?? queryWithChangedParts;
};
