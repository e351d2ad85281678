/** Query kind for PromQL. */
import { contextKey } from '../batch/context-key.ts';
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
      // Without steps it is evaluated at the end of its range, regardless of the start.
      return context.stepMs === undefined ? `at ${context.range.to}` : contextKey(context);
    },
    run: (queries, reading, [context], report) => runPromqlBatch(queries, reading, context, report),
  },
  isAtStepEnds: true,
  changeTexts: (query, changes) => ({ ...query, expression: changes.promql(query.expression) }),
  addFilters: (query, changes) => ({ ...query, expression: changes.promql(query.expression) }),
  promql: ({ expression }) => expression,
  sentence: ({ expression }) => `the PromQL expression ${expression}`,
});
