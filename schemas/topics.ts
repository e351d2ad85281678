/**
 * All topics, declared once. `oiq migrate` creates them. Schemas of JSON values are registered if a registry is
 * configured.
 */

import { z } from 'zod';
import { AgentEvent, AgentReport } from './agent-events.ts';
import { AlertEvaluation, AlertTransition } from './alerts.ts';
import { AnomalyChange, AnomalyEvaluation, AnomalyPoints, AnomalyScores } from './anomalies.ts';
import { CallEnd, getEndMs, ServiceEdge } from './edges.ts';
import { ErrorOccurrence, RaisedError } from './error-occurrences.ts';
import { PlatformEvent } from './events.ts';
import { GrowingHead } from './evidence.ts';
import { FileChange, PackageChange } from './file-changes.ts';
import { FleetAgentReport } from './fleet-agents.ts';
import { LlmCallRecord, LlmPriceRecord, LlmResponse, LlmSpan } from './llm-calls.ts';
import { LogPattern, PatternCount } from './log-patterns.ts';
import { DeliveryStep, Notification } from './notifications.ts';
import { RumEvent } from './rum.ts';
import { ReplayChunk } from './rum-replays.ts';
import { RuntimeThreat } from './runtime-threats.ts';
import { SecretFinding } from './secret-findings.ts';
import { DetectionMatch, DetectionSignal, SeenTelemetry } from './signals.ts';
import { SloSlices } from './slo-slices.ts';
import { SyntheticHeartbeat } from './synthetic-heartbeats.ts';
import { SyntheticRun, SyntheticStateChange, SyntheticVerdict } from './synthetic-runs.ts';
import { ThreatMatch } from './threat-matches.ts';
import { defineDerivedTopic, defineTopic, type Topic } from './topic.ts';
import { VulnerabilityRecord } from './vulnerability-findings.ts';

/** Status of a dead letter. Replay and discard write it in the same transaction as their messages. */
export const DeadLetterMark = z.strictObject({
  tenantId: z.string(),
  id: z.string().describe('Dead letter ID'),
  outcome: z.enum(['replayed', 'discarded']),
  markedAt: z.iso.datetime(),
  actor: z.string().describe('Who requested it: a user, a service account or the command line'),
});
export type DeadLetterMark = z.output<typeof DeadLetterMark>;

/** Data that a receiver rejected, summed over a few seconds. Reports with the same ID count once. */
export const UsageReport = z.strictObject({
  id: z.string(),
  rows: z.array(
    z.strictObject({
      tenantId: z.string(),
      projectId: z.string(),
      keyId: z.string(),
      signal: z.string(),
      reason: z.string().describe('Reason for the rejection'),
      hour: z.int().describe('Hour of reception, in hours since the epoch'),
      requests: z.int(),
      records: z.int().describe('0 if the body was not read'),
      bytes: z.int().describe('Decompressed size if known, else as received; 0 if the body was not read'),
    }),
  ),
});
export type UsageReport = z.output<typeof UsageReport>;

const tenantAndShard = 'tenant and shard';

export const topics = {
  logs: defineTopic({ name: 'otlp.logs', summary: 'OTLP log export requests as received', key: tenantAndShard }),
  metrics: defineTopic({
    name: 'otlp.metrics',
    summary: 'OTLP metric export requests as received',
    key: tenantAndShard,
  }),
  traces: defineTopic({ name: 'otlp.traces', summary: 'OTLP trace export requests as received', key: tenantAndShard }),
  remoteWrite: defineTopic({
    name: 'prometheus.remote-write',
    summary: 'Prometheus remote-write requests as received',
    key: tenantAndShard,
  }),
  deadLetter: defineTopic({
    name: 'dead-letter',
    summary: 'Refused and unprocessable payloads, byte for byte, with the reason',
    key: 'tenant',
    partitions: 3,
    retentionHours: 30 * 24,
  }),
  deadLetterMarks: defineTopic({
    name: 'dead-letter-marks',
    summary: 'Replayed and discarded dead letters',
    key: 'tenant',
    value: DeadLetterMark,
    partitions: 1,
    retentionHours: 60 * 24,
  }),
  usage: defineTopic({
    name: 'usage',
    summary: 'Requests that receivers rejected, by tenant, project, key, signal and reason',
    key: 'report',
    value: UsageReport,
    partitions: 3,
  }),
  evidenceHeads: defineTopic({
    name: 'evidence-heads',
    summary: 'Signed tree heads of the audit chains',
    key: 'tenant',
    value: GrowingHead,
    partitions: 1,
    retentionHours: 60 * 24,
  }),
  logPatterns: defineDerivedTopic({
    name: 'log-patterns',
    summary: 'Patterns of log bodies, when they are discovered, merged or seen more often',
    item: LogPattern,
    keyOf: ({ service }) => service,
    partitions: 3,
  }),
  logPatternCounts: defineDerivedTopic({
    name: 'log-pattern-counts',
    summary: 'Log records by minute, project, service, severity and pattern',
    item: PatternCount,
    keyOf: ({ service }) => service,
    timeOf: ({ minute }) => Date.parse(minute),
    partitions: 3,
  }),
  callEnds: defineDerivedTopic({
    name: 'call-ends',
    summary: 'Both ends of each call between services, from spans, to pair the ends of a call',
    item: CallEnd,
    keyOf: ({ traceId }) => traceId,
    timeOf: getEndMs,
    retentionHours: 24,
  }),
  serviceEdges: defineDerivedTopic({
    name: 'service-edges',
    summary: 'Calls between services, databases, queues and hosts by minute',
    item: ServiceEdge,
    timeOf: ({ minute }) => minute,
  }),
  raisedErrors: defineDerivedTopic({
    name: 'raised-errors',
    summary: 'Errors as single records report them, to combine those of one trace',
    item: RaisedError,
    keyOf: ({ traceId }) => traceId,
    timeOf: ({ timeMs }) => timeMs,
    retentionHours: 24,
  }),
  errorOccurrences: defineDerivedTopic({
    name: 'error-occurrences',
    summary: 'Error occurrences, deduplicated, with the fingerprint of their group',
    item: ErrorOccurrence,
  }),
  rumReports: defineDerivedTopic({
    name: 'rum-reports',
    summary: 'Events of browsers as single records report them, to assign them to sessions and views',
    item: RumEvent,
    keyOf: ({ application }) => application,
    retentionHours: 24,
  }),
  rumEvents: defineDerivedTopic({
    name: 'rum-events',
    summary: 'Events of browsers with their view and page group, and signs of frustration',
    item: RumEvent,
    keyOf: ({ sessionId }) => sessionId,
  }),
  rumReplays: defineTopic({
    name: 'rum-replays',
    summary: 'Recordings of sessions, masked, in chunks of events',
    key: 'tenant and session',
    value: ReplayChunk,
  }),
  events: defineDerivedTopic({
    name: 'events',
    summary: 'Events of the platform: deployments, custom events, and events about alerts, anomalies and incidents',
    item: PlatformEvent,
    timeOf: ({ at }) => Date.parse(at),
    partitions: 3,
  }),
  alertTransitions: defineDerivedTopic({
    name: 'alert-transitions',
    summary: 'Alert state changes, for notifications, history and the event feed',
    item: AlertTransition,
    timeOf: ({ atMs }) => atMs,
    partitions: 3,
  }),
  alertEvaluations: defineDerivedTopic({
    name: 'alert-evaluations',
    summary: 'Results of each evaluation of an alert rule, by group',
    item: AlertEvaluation,
    keyOf: ({ ruleId }) => ruleId,
    partitions: 3,
    retentionHours: 24,
  }),
  sloSlices: defineDerivedTopic({
    name: 'slo-slices',
    summary: 'Good and total counts of the time slices of SLOs, as last measured',
    item: SloSlices,
    keyOf: ({ sloId }) => sloId,
    partitions: 3,
    retentionHours: 24,
  }),
  syntheticHeartbeats: defineDerivedTopic({
    name: 'synthetic-beats',
    summary: 'Heartbeats of jobs that receivers accepted, and confirmations that receivers accept heartbeats',
    item: SyntheticHeartbeat,
    timeOf: ({ receivedMs }) => receivedMs,
    partitions: 3,
    maxMessageBytes: 4 * 1024 * 1024,
  }),
  syntheticRuns: defineDerivedTopic({
    name: 'synthetic-runs',
    summary: 'Runs of synthetic checks, as probes reported them',
    item: SyntheticRun,
    keyOf: ({ checkId }) => checkId,
    partitions: 3,
    maxMessageBytes: 4 * 1024 * 1024,
  }),
  syntheticStates: defineDerivedTopic({
    name: 'synthetic-states',
    summary: 'State changes of synthetic checks and their locations',
    item: SyntheticStateChange,
    keyOf: ({ checkId }) => checkId,
    timeOf: ({ atMs }) => atMs,
    partitions: 3,
  }),
  syntheticVerdicts: defineDerivedTopic({
    name: 'synthetic-verdicts',
    summary: 'Verdicts on synthetic checks, for alert rules',
    item: SyntheticVerdict,
    keyOf: ({ checkId }) => checkId,
    timeOf: ({ judgedMs }) => judgedMs,
    partitions: 3,
  }),
  anomalyPoints: defineDerivedTopic({
    name: 'anomaly-points',
    summary: 'Steps of the series that detectors monitor, for scoring',
    item: AnomalyPoints,
    keyOf: ({ detectorId }) => detectorId,
    retentionHours: 24,
  }),
  anomalyScores: defineDerivedTopic({
    name: 'anomaly-scores',
    summary: 'Anomaly scores of the steps of monitored series',
    item: AnomalyScores,
    keyOf: ({ detectorId }) => detectorId,
    retentionHours: 24,
  }),
  anomalies: defineDerivedTopic({
    name: 'anomalies',
    summary: 'Anomalies that began, became worse or ended',
    item: AnomalyChange,
    keyOf: ({ detectorId }) => detectorId,
    timeOf: ({ atMs }) => atMs,
    partitions: 3,
  }),
  anomalyEvaluations: defineDerivedTopic({
    name: 'anomaly-looks',
    summary: 'Progress of detectors',
    item: AnomalyEvaluation,
    keyOf: ({ detectorId }) => detectorId,
    partitions: 3,
    retentionHours: 24,
  }),
  signals: defineDerivedTopic({
    name: 'signals',
    summary: 'Security signals of detection rules: rule, records with the matched fields, and the entities involved',
    item: DetectionSignal,
    timeOf: ({ timeMs }) => timeMs,
    partitions: 3,
  }),
  detectionMatches: defineDerivedTopic({
    name: 'detection-matches',
    summary: 'Records that matched a rule, for correlations and suppressions that process all records of a group',
    item: DetectionMatch,
    keyOf: ({ forRule, key }) => JSON.stringify([forRule, key]),
    timeOf: ({ signal }) => signal.timeMs,
    retentionHours: 24,
  }),
  chainedMatches: defineDerivedTopic({
    name: 'chained-matches',
    summary: 'Signals of correlations, for correlations that reference correlations',
    item: DetectionMatch,
    keyOf: ({ forRule, key }) => JSON.stringify([forRule, key]),
    timeOf: ({ signal }) => signal.timeMs,
    retentionHours: 24,
  }),
  detectionTelemetry: defineDerivedTopic({
    name: 'detection-telemetry',
    summary: 'Log sources and fields available to detection rules, by day',
    item: SeenTelemetry,
    partitions: 3,
  }),
  threatMatches: defineDerivedTopic({
    name: 'threat-matches',
    summary: 'Matches of threat indicators in records, with the number of records per entity',
    item: ThreatMatch,
    timeOf: ({ timeMs }) => timeMs,
    partitions: 3,
  }),
  fileChanges: defineDerivedTopic({
    name: 'file-changes',
    summary: 'Changes of files, as records of osquery, Falco, auditd, Wazuh and OpenTelemetry report them',
    item: FileChange,
    keyOf: ({ host }) => host,
    timeOf: ({ timeMs }) => timeMs,
    partitions: 3,
  }),
  packageChanges: defineDerivedTopic({
    name: 'package-changes',
    summary: 'Packages that package managers installed, upgraded or removed',
    item: PackageChange,
    keyOf: ({ host }) => host,
    timeOf: ({ timeMs }) => timeMs,
    partitions: 3,
  }),
  secretFindings: defineDerivedTopic({
    name: 'secret-findings',
    summary: 'Secrets in records, without their text',
    item: SecretFinding,
    keyOf: ({ findingId }) => findingId,
    timeOf: ({ timeMs }) => timeMs,
    partitions: 3,
  }),
  runtimeThreats: defineDerivedTopic({
    name: 'runtime-threats',
    summary: 'Events of Falco, Tetragon, Tracee, KubeArmor and security rules of OpenTelemetry',
    item: RuntimeThreat,
    keyOf: ({ groupId }) => groupId,
    timeOf: ({ timeMs }) => timeMs,
    partitions: 3,
  }),
  vulnerabilityFindings: defineDerivedTopic({
    name: 'vulnerability-findings',
    summary: 'States of vulnerabilities of packages, each hour and after changes',
    item: VulnerabilityRecord,
    keyOf: ({ findingId }) => findingId,
    timeOf: ({ timeMs }) => timeMs,
    partitions: 3,
    retentionHours: 24,
  }),
  llmCalls: defineDerivedTopic({
    name: 'llm-calls',
    summary: 'Calls of language models, and verdicts on calls that several spans report',
    item: LlmCallRecord,
    keyOf: ({ traceId }) => traceId,
    timeOf: ({ timeMs }) => timeMs,
  }),
  llmSpans: defineDerivedTopic({
    name: 'llm-spans',
    summary: 'Spans about language models, to compare those of one trace',
    item: LlmSpan,
    keyOf: ({ traceId }) => traceId,
    timeOf: ({ timeMs }) => timeMs,
    retentionHours: 24,
  }),
  llmResponses: defineDerivedTopic({
    name: 'llm-responses',
    summary: 'Spans with the ID of a response, to compare those of one response',
    item: LlmResponse,
    keyOf: ({ responseId }) => responseId,
    timeOf: ({ timeMs }) => timeMs,
    retentionHours: 24,
  }),
  llmPrices: defineDerivedTopic({
    name: 'llm-prices',
    summary: 'Prices of models that organizations set',
    item: LlmPriceRecord,
    keyOf: ({ priceId }) => priceId,
    partitions: 3,
  }),
  agentReports: defineDerivedTopic({
    name: 'agent-reports',
    summary: 'Reports about agents on hosts, before they are put in order',
    item: AgentReport,
    keyOf: ({ projectId, host }) => `${projectId} ${host}`,
    timeOf: ({ recordMs }) => recordMs,
    retentionHours: 24,
  }),
  agentEvents: defineDerivedTopic({
    name: 'agent-events',
    summary: 'Events of agents: requests to models, tool calls, processes, files and connections',
    item: AgentEvent,
    keyOf: ({ projectId, host }) => `${projectId} ${host}`,
    timeOf: ({ timeMs }) => timeMs,
  }),
  fleetAgents: defineDerivedTopic({
    name: 'fleet-agents',
    summary: 'What agents report over OpAMP: heartbeats, descriptions, health and configurations',
    item: FleetAgentReport,
    timeOf: ({ atMs }) => atMs,
    partitions: 3,
    maxMessageBytes: 4 * 1024 * 1024,
  }),
  notifications: defineDerivedTopic({
    name: 'notifications',
    summary: 'Notifications about groups of alerts to channels',
    item: Notification,
    keyOf: ({ channelId }) => channelId,
    timeOf: ({ atMs }) => atMs,
    partitions: 3,
  }),
  notificationDeliveries: defineDerivedTopic({
    name: 'notification-deliveries',
    summary: 'Steps of deliveries to channels: queued, and each attempt with its response',
    item: DeliveryStep,
    timeOf: ({ atMs }) => atMs,
    partitions: 3,
  }),
} as const satisfies Record<string, Topic>;

/** All topics, in the order in which they are created. */
export const allTopics: readonly Topic[] = Object.values(topics);
