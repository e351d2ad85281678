import { anomalyFeedback } from '../../../schemas/resources/anomaly-feedback.ts';
import { defineGroup } from '../define-group.ts';
import { listAnomalies, showAnomaly } from './anomalies.ts';
import { detectAnomalies } from './detect.ts';
import { detectorResource } from './detector.ts';
import { markAnomaly } from './feedback.ts';
import { forecastSeries } from './forecast.ts';
import { askInWords } from './query.ts';
import { findRootCause } from './root-cause.ts';

export const aiGroup = defineGroup({
  name: 'ai',
  summary: 'Anomalies, forecasts, root causes, questions in plain language and runbooks.',
  entitlement: 'ai',
  resources: [detectorResource],
  collections: [anomalyFeedback],
  operations: [detectAnomalies, forecastSeries, askInWords, listAnomalies, showAnomaly, markAnomaly, findRootCause],
  planned: [
    ['POST /api/ai/rag/documents', 'editor', 'add runbooks'],
    ['GET /api/ai/rag/documents', 'viewer', 'list'],
    ['DELETE /api/ai/rag/documents/{id}', 'editor', 'delete'],
    ['POST /api/ai/rag/search', 'viewer', 'passages'],
    ['POST /api/ai/rag/answer', 'viewer', 'an answer that cites passages and telemetry'],
    ['GET /api/ai/suggestions', 'viewer', 'suggestions: alerts, SLOs, dashboards, noisy rules, costs'],
    ['POST /api/ai/suggestions/{id}/apply', 'editor', 'apply one'],
    ['DELETE /api/ai/suggestions/{id}', 'editor', 'dismiss one'],
  ],
});
