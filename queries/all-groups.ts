/** Queries that are asked for all groups, not for those that a panel would show. */
import type { Query } from './query.ts';

const limited = <Part extends Query>(query: Part, limit: number): Part =>
  query.kind === 'aggregate' || query.kind === 'metric' ? { ...query, limit: limit } : query;

/** The query for so many groups at most; of a formula, each of its parts; of an anomaly or a forecast, what is scored or forecast. */
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
