/** The sinks, one line each. Scan threads load this module: it and its imports use no driver. */

import { agentEvents } from './agents.ts';
import { alertEvaluations, alertTransitions } from './alerts.ts';
import { anomalies, anomalyEvaluations, anomalyScores } from './anomalies.ts';
import { deadLetters } from './dead-letters.ts';
import { detectionTelemetry } from './detection-telemetry.ts';
import { serviceEdges } from './edges.ts';
import type { Sink } from './engine/sink.ts';
import { errorOccurrences } from './errors.ts';
import { events } from './events.ts';
import { evidenceHeads } from './evidence-heads.ts';
import { fileChanges, packageChanges } from './file-changes.ts';
import { fleetAgents } from './fleet-agents.ts';
import { llmCalls, llmPrices } from './llm.ts';
import { logPatternCounts, logPatterns } from './log-patterns.ts';
import { logs } from './logs.ts';
import { metrics } from './metrics.ts';
import { notificationDeliveries } from './notification-deliveries.ts';
import { rumEvents } from './rum.ts';
import { rumReplays } from './rum-replays.ts';
import { runtimeThreats } from './runtime-threats.ts';
import { secretFindings } from './secret-findings.ts';
import { signals } from './signals.ts';
import { sloSlices } from './slos.ts';
import { syntheticRuns, syntheticStates, syntheticVerdicts } from './synthetics.ts';
import { threatMatches } from './threat-matches.ts';
import { traces } from './traces.ts';
import { usage } from './usage.ts';
import { vulnerabilityFindings } from './vulnerability-findings.ts';

export const sinks: readonly Sink[] = [
  logs,
  metrics,
  traces,
  deadLetters,
  usage,
  evidenceHeads,
  logPatterns,
  logPatternCounts,
  serviceEdges,
  errorOccurrences,
  rumEvents,
  events,
  rumReplays,
  alertTransitions,
  alertEvaluations,
  signals,
  detectionTelemetry,
  threatMatches,
  fileChanges,
  packageChanges,
  secretFindings,
  runtimeThreats,
  vulnerabilityFindings,
  llmCalls,
  llmPrices,
  agentEvents,
  fleetAgents,
  notificationDeliveries,
  sloSlices,
  syntheticRuns,
  syntheticStates,
  syntheticVerdicts,
  anomalyScores,
  anomalies,
  anomalyEvaluations,
];
