/** Errors in the PromQL of queries. */
import { findExpressionProblem } from './promql/index.ts';
import type { Query } from './query.ts';
import { getPromql } from './query-kind.ts';

/** Returns the problem of a query's PromQL expression; undefined if it is valid, and for other kinds of queries. */
export const findPromqlProblem = (query: Query): string | undefined => {
  const expression = getPromql(query);
  return expression === undefined ? undefined : findExpressionProblem(expression);
};
