/** Converts queries to return all groups, instead of the groups of a panel. */
import type { Query } from './query.ts';

const limited = <Part extends Query>(query: Part, limit: number): Part =>
  query.kind === 'aggregate' || query.kind === 'metric' ? { ...query, limit: limit } : query;

/**
 * Returns the query with this maximum number of groups. For a formula, this applies to each part; for an anomaly or a
 * forecast, to its input.
 */
export const everyGroup = <Of extends Query>(query: Of, maxGroups: number): Of => {
  if (query.kind === 'formula')
    return {
      ...query,
      queries: Object.fromEntries(
        Object.entries(query.queries).map(([name, part]) => [name, limited(part, maxGroups)]),
      ),
    };
  if ((query.kind === 'anomaly' || query.kind === 'forecast') && query.query !== undefined)
    return { ...query, query: everyGroup(query.query, maxGroups) };
  return limited(query, maxGroups);
};
