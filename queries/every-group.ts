/** Queries that are asked for all groups, not for those that a panel would show. */
import type { Query } from './query.ts';

const limited = <Part extends Query>(query: Part, most: number): Part =>
  query.kind === 'aggregate' || query.kind === 'metric' ? { ...query, limit: most } : query;

/** The query for so many groups at most; of a formula, each of its parts. */
export const everyGroup = (query: Query, most: number): Query =>
  query.kind === 'formula'
    ? {
        ...query,
        queries: Object.fromEntries(Object.entries(query.queries).map(([name, part]) => [name, limited(part, most)])),
      }
    : limited(query, most);
