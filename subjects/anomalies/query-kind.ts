/** The query kind for anomalous series. */

import type { MeasuringQuery } from '../../queries/query.ts';
import { defineQueryKind } from '../../queries/query-kind.ts';
import { toStateGroups } from '../../queries/series-states.ts';
import { parseDuration } from '../../queries/time.ts';
import { AnomalyQuery } from './query.ts';
import { runAnomaly } from './scores/run-anomaly.ts';
import { statusColumnCount } from './scores/status-table.ts';

export const anomaly = defineQueryKind<AnomalyQuery>({
  schema: AnomalyQuery,
  isFormulaPart: false,
  parts: {
    list: ({ query }) => (query === undefined ? [] : [['query', query]]),
    change: (anomalyQuery, change) =>
      anomalyQuery.query === undefined
        ? anomalyQuery
        : { ...anomalyQuery, query: change(anomalyQuery.query) as MeasuringQuery },
  },
  signals: () => [],
  run: runAnomaly,
  // Scores have their own step, and no shorter steps are available.
  minStepMs: ({ step }) => (step === undefined ? 1 : Number(parseDuration(step) ?? 0n) / 1_000_000),
  changeTexts: (query, { text }) => ({
    ...query,
    ...(query.detectorId === undefined ? {} : { detectorId: text(query.detectorId) }),
  }),
  states: (_query, table) => toStateGroups(table, statusColumnCount),
  singleValue: 'series have one anomaly state',
  isPrediction: true,
  sentence: ({ query, detectorId }, parts) =>
    query === undefined ? `anomalies of the detector ${detectorId}` : `anomalies of ${parts.query(query)}`,
});
