import { anomalyFeedback } from '../../../schemas/resources/anomaly-feedback.ts';
import {
  passageVectors,
  runbookDocuments,
  runbookIndexRevisions,
  runbookTexts,
} from '../../../schemas/resources/runbook.ts';
import { suggestionMarks } from '../../../schemas/resources/suggestion-mark.ts';
import { defineGroup } from '../define-group.ts';
import { listAnomalies, showAnomaly } from './anomalies.ts';
import { detectAnomalies } from './detect.ts';
import { detectorResource } from './detector.ts';
import { markAnomaly } from './feedback.ts';
import { forecastSeries } from './forecast.ts';
import { answerQuestion } from './query.ts';
import { findRootCause } from './root-cause.ts';
import { answerFromRunbooks } from './runbook-answer.ts';
import { addRunbookDocument, deleteRunbookDocument, listRunbookDocuments } from './runbook-documents.ts';
import { searchRunbooks } from './runbook-search.ts';
import { applySuggestion, dismissSuggestion, listSuggestions } from './suggestions.ts';

export const aiGroup = defineGroup({
  name: 'ai',
  summary: 'Anomalies, forecasts, root causes, questions in plain language and runbooks.',
  entitlement: 'ai',
  resources: [detectorResource],
  collections: [
    anomalyFeedback,
    runbookDocuments,
    runbookTexts,
    runbookIndexRevisions,
    passageVectors,
    suggestionMarks,
  ],
  operations: [
    detectAnomalies,
    forecastSeries,
    answerQuestion,
    listAnomalies,
    showAnomaly,
    markAnomaly,
    findRootCause,
    addRunbookDocument,
    listRunbookDocuments,
    deleteRunbookDocument,
    searchRunbooks,
    answerFromRunbooks,
    listSuggestions,
    applySuggestion,
    dismissSuggestion,
  ],
});
