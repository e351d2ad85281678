/** Registry of processors, one line each. Threads load this module: it and its imports use no driver. */

import '../subjects/query-kinds.ts';
import { agentDetections } from './agents/agent-detections.ts';
import { agentEvents } from './agents/agent-events.ts';
import { agentLogReports } from './agents/agent-log-reports.ts';
import { agentSpanReports } from './agents/agent-span-reports.ts';
import { anomalyScores } from './anomaly-scores/anomaly-scores.ts';
import { chainedCorrelations, correlations } from './detections/correlations.ts';
import { detections } from './detections/detections.ts';
import { callEnds } from './edges/call-ends.ts';
import { serviceEdges } from './edges/edges.ts';
import type { Processor } from './engine/definition.ts';
import { errorOccurrences } from './errors/error-occurrences.ts';
import { logErrors } from './errors/log-errors.ts';
import { spanErrors } from './errors/span-errors.ts';
import { fileChanges } from './file-changes/file-changes.ts';
import { duplicateLlmCalls } from './llm/duplicate-llm-calls.ts';
import { llmCalls } from './llm/llm-calls.ts';
import { nestedLlmCalls } from './llm/nested-llm-calls.ts';
import { logPatterns } from './log-patterns/log-patterns.ts';
import { notifications } from './notifications/notifications.ts';
import { rumLogEvents } from './rum/log-events.ts';
import { rumEvents } from './rum/rum-events.ts';
import { rumSpanEvents } from './rum/span-events.ts';
import { runtimeThreats } from './runtime-threats/runtime-threats.ts';
import { logSecrets } from './secrets/log-secrets.ts';
import { spanSecrets } from './secrets/span-secrets.ts';
import { heartbeats } from './synthetics/heartbeats.ts';
import { runTelemetry } from './synthetics/run-telemetry.ts';
import { threatMatches } from './threat-intel/threat-matches.ts';

export const processors: readonly Processor[] = [
  callEnds,
  serviceEdges,
  logPatterns,
  logErrors,
  spanErrors,
  errorOccurrences,
  rumLogEvents,
  rumSpanEvents,
  rumEvents,
  detections,
  correlations,
  chainedCorrelations,
  threatMatches,
  fileChanges,
  logSecrets,
  spanSecrets,
  runtimeThreats,
  llmCalls,
  nestedLlmCalls,
  duplicateLlmCalls,
  agentLogReports,
  agentSpanReports,
  agentEvents,
  agentDetections,
  heartbeats,
  runTelemetry,
  notifications,
  anomalyScores,
];
