/** Errors in the PromQL of queries. */
import { findExpressionProblem } from './promql/index.ts';
import type { Query } from './query.ts';
import { getPromql } from './query-kind.ts';

/** Returns what is wrong with the PromQL expression of a query; undefined for a valid one, and for other kinds. */
export const findPromqlProblem = (query: Query): string | undefined => {
  const expression = getPromql(query);
  return expression === undefined ? undefined : findExpressionProblem(expression);
};
