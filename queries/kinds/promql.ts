/** Query kind for PromQL. */
import { toContextKey } from '../batch/context-key.ts';
import { isBatchablePromql, maxPromqlQueries, runPromqlBatch } from '../batch/promql.ts';
import { runPromql } from '../promql/run-promql.ts';
import { PromqlQuery } from '../query.ts';
import { defineQueryKind } from '../query-kind.ts';

export const promql = defineQueryKind<PromqlQuery>({
  schema: PromqlQuery,
  isFormulaPart: true,
  signals: () => ['metrics'],
  run: runPromql,
  batch: {
    max: maxPromqlQueries,
    key(_query, context) {
      if (!isBatchablePromql(context)) return undefined;
      // Without steps, the expression is evaluated at the end of the range, regardless of its start.
      return context.stepMs === undefined ? `at ${context.range.to}` : toContextKey(context);
    },
    run: (queries, reader, [context], report) => runPromqlBatch(queries, reader, context, report),
  },
  isAtStepEnds: true,
  changeTexts: (query, changes) => ({ ...query, expression: changes.promql(query.expression) }),
  addFilters: (query, changes) => ({ ...query, expression: changes.promql(query.expression) }),
  promql: ({ expression }) => expression,
  sentence: ({ expression }) => `the PromQL expression ${expression}`,
});
