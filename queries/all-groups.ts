/** Converts queries to return all groups, instead of the groups of a panel. */
import type { Query } from './query.ts';
import { changeParts, kindOf } from './query-kind.ts';

/** Returns the query with this maximum number of groups; a query with parts, with this maximum for each part. */
export const everyGroup = (query: Query, maxGroups: number): Query => {
  const whole = changeParts(query, (part) => everyGroup(part, maxGroups));
  return kindOf(whole).limitGroups?.(whole, maxGroups) ?? whole;
};
