/** Queries for the state of a synthetic check. */
import { contextKey } from '../batch/context-key.ts';
import { checkStates } from '../checks/alert-states.ts';
import { maxChecksPerBatch, runCheck, runCheckBatch } from '../checks/run-check.ts';
import type { CheckQuery } from '../query.ts';
import { defineQueryKind } from '../query-kind.ts';

export const check = defineQueryKind<CheckQuery>({
  signals: () => [],
  run: runCheck,
  batch: {
    max: maxChecksPerBatch,
    key: (_query, context) => contextKey(context),
    run: (queries, reading, [context]) => runCheckBatch(queries, reading, context),
  },
  changeTexts: (query, { text }) => ({ ...query, checkId: text(query.checkId) }),
  states: (_query, table) => checkStates(table),
  singleValue: 'a check has one state',
  isCurrentOnly: true,
  sentence: ({ checkId }) => `state of the synthetic check ${checkId}`,
});
