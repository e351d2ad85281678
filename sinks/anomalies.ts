import { anomaliesTable, anomalyEvaluationsTable, anomalyScoresTable } from '../schemas/tables/anomalies.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

const toIsoTime = (ms: number): string => new Date(ms).toISOString();

export const anomalyScores = defineValueSink({
  topic: topics.anomalyScores,
  table: anomalyScoresTable,
  row: ({ tenantId, detectorId, series }) =>
    series.flatMap(({ key, points }) =>
      points.map(([startMs, value, expected, low, high, score, isAnomalous]) => ({
        tenant_id: tenantId,
        detector_id: detectorId,
        series: key,
        time: toIsoTime(startMs),
        value,
        expected,
        low,
        high,
        score,
        is_anomalous: isAnomalous ? 1 : 0,
      })),
    ),
});

export const anomalies = defineValueSink({
  topic: topics.anomalies,
  table: anomaliesTable,
  row: ({ tenantId, projectId, id, number, detectorId, detectorName, detectorLabels, ...anomaly }) => ({
    tenant_id: tenantId,
    project_id: projectId,
    time: toIsoTime(anomaly.beginMs),
    id,
    revision: number,
    detector_id: detectorId,
    detector_name: detectorName,
    detector_labels: detectorLabels,
    signals: anomaly.signals,
    step_ms: anomaly.stepMs,
    series: anomaly.key,
    name: anomaly.name,
    unit: anomaly.unit,
    labels: anomaly.labels,
    sign: anomaly.sign,
    direction: anomaly.direction,
    end_ms: anomaly.endMs ?? 0,
    changed_ms: anomaly.atMs,
    why: anomaly.why,
    score: anomaly.score,
    peak_ms: anomaly.peakMs,
    value: anomaly.value,
    expected: anomaly.expected,
    low: anomaly.low,
    high: anomaly.high,
    before: anomaly.before,
  }),
});

export const anomalyEvaluations = defineValueSink({
  topic: topics.anomalyEvaluations,
  table: anomalyEvaluationsTable,
  row: ({ tenantId, detectorId, question, number, lookMs: evaluatedAtMs, ...evaluation }) => ({
    tenant_id: tenantId,
    detector_id: detectorId,
    question,
    revision: number,
    look_ms: evaluatedAtMs,
    last_seen: toIsoTime(evaluatedAtMs),
    up_to_ms: evaluation.upToMs,
    step_ms: evaluation.stepMs,
    watched_from_ms: evaluation.watchedFromMs ?? 0,
    learns_until_ms: evaluation.learnsUntilMs ?? 0,
    learnt_from_ms: evaluation.learntFromMs,
    series: evaluation.series,
    learning: evaluation.learning,
    speaks_from_ms: evaluation.speaksFromMs ?? 0,
    refused: evaluation.refused,
    open: evaluation.open,
    error: evaluation.error,
  }),
});
