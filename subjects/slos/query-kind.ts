/** Queries for figures of a service level objective. */
import { contextKey } from '../../queries/batch/context-key.ts';
import { defineQueryKind } from '../../queries/query-kind.ts';
import { SloQuery } from './query.ts';
import { sloStates } from './slices/alert-states.ts';
import { maxSlosPerBatch, runSlo, runSloBatch, sloKey } from './slices/run-slo.ts';

export const slo = defineQueryKind<SloQuery>({
  schema: SloQuery,
  isFormulaPart: true,
  signals: () => [],
  run: runSlo,
  batch: {
    max: maxSlosPerBatch,
    key: (query, context) => `${sloKey(query)} ${contextKey(context)}`,
    run: (queries, reading, [context]) => runSloBatch(queries, reading, context),
  },
  changeTexts: (query, { text }) => ({ ...query, sloId: text(query.sloId) }),
  groupBy: () => [],
  states: sloStates,
  singleValue: 'an SLO has one value',
  isCurrentOnly: true,
  sentence: ({ figure, sloId }) => `${figure} of the SLO ${sloId}`,
});
