/** Query kind for values of a service level objective, such as its burn rate. */
import { toContextKey } from '../../queries/batch/context-key.ts';
import { defineQueryKind } from '../../queries/query-kind.ts';
import { SloQuery } from './query.ts';
import { toSloStates } from './slices/alert-states.ts';
import { maxSlosPerBatch, runSlo, runSloBatch, toSloKey } from './slices/run-slo.ts';

export const slo = defineQueryKind<SloQuery>({
  schema: SloQuery,
  isFormulaPart: true,
  signals: () => [],
  group: 'slos',
  run: runSlo,
  batch: {
    max: maxSlosPerBatch,
    key: (query, context) => `${toSloKey(query)} ${toContextKey(context)}`,
    run: (queries, reader, [context]) => runSloBatch(queries, reader, context),
  },
  changeTexts: (query, { text }) => ({ ...query, sloId: text(query.sloId) }),
  groupBy: () => [],
  states: toSloStates,
  singleValue: 'an SLO has one value',
  isCurrentOnly: true,
  sentence: ({ figure, sloId }) => `${figure} of the SLO ${sloId}`,
});
