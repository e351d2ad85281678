/** Errors in the PromQL of queries. */
import { expressionProblem } from './promql/index.ts';
import type { Query } from './query.ts';
import { promqlOf } from './query-kind.ts';

/** Returns what is wrong with the PromQL expression of a query; undefined for a valid one, and for other kinds. */
export const promqlProblem = (query: Query): string | undefined => {
  const expression = promqlOf(query);
  return expression === undefined ? undefined : expressionProblem(expression);
};
