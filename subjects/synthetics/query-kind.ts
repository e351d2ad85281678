/** Query kind for the state of a synthetic check. */
import { toContextKey } from '../../queries/batch/context-key.ts';
import { defineQueryKind } from '../../queries/query-kind.ts';
import { toCheckStates } from './alert-states.ts';
import { CheckQuery } from './query.ts';
import { maxChecksPerBatch, runCheck, runCheckBatch } from './run-check.ts';

export const check = defineQueryKind<CheckQuery>({
  schema: CheckQuery,
  isFormulaPart: true,
  signals: () => [],
  group: 'synthetics',
  run: runCheck,
  batch: {
    max: maxChecksPerBatch,
    key: (_query, context) => toContextKey(context),
    run: (queries, reader, [context]) => runCheckBatch(queries, reader, context),
  },
  changeTexts: (query, { text }) => ({ ...query, checkId: text(query.checkId) }),
  states: (_query, table) => toCheckStates(table),
  singleValue: 'a check has one state',
  isCurrentOnly: true,
  sentence: ({ checkId }) => `state of the synthetic check ${checkId}`,
});
