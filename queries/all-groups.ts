/** Raises the maximum number of groups of a query, so that it returns all groups and not only those of a panel. */
import type { Query } from './query.ts';
import { changeParts, getQueryKind } from './query-kind.ts';

/** Returns the query with this maximum number of groups. In a formula or forecast, the maximum applies to each part. */
export const withMaxGroups = (query: Query, maxGroups: number): Query => {
  const changedQuery = changeParts(query, (part) => withMaxGroups(part, maxGroups));
  return getQueryKind(changedQuery).limitGroups?.(changedQuery, maxGroups) ?? changedQuery;
};
