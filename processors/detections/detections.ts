import { computeHashId } from '../../runtime/hash-id.ts';
import type { PlatformEvent } from '../../schemas/events.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { topics } from '../../schemas/topics.ts';
import { detect } from '../../subjects/detections/detect.ts';
import type { ValuePosition } from '../../subjects/detections/event.ts';
import type { EventKind } from '../../subjects/detections/log-sources.ts';
import { findPrefilterPositions, prefilterRecord } from '../../subjects/detections/prefilter.ts';
import { getRecordValues } from '../../subjects/detections/record-event.ts';
import type { EvaluationObserver, PrefilterResult } from '../../subjects/detections/rule-set.ts';
import { type Context, defineProcessor } from '../engine/definition.ts';
import { combinedState } from '../engine/state.ts';
import { compileFollowed, followedCollections } from './deployments.ts';
import { costBudgetState } from './rule-budget.ts';
import { seenTelemetryState } from './seen-telemetry.ts';

const state = combinedState(2, { costBudget: costBudgetState, seen: seenTelemetryState });

/** Reports a rule that exceeded its budget. It stays disabled until it is changed. */
const ruleDisabledEvent = (
  { tenantId, timeMs }: LogRecord,
  { ruleId, version, title, partition }: { ruleId: string; version: number; title: string; partition: number },
): PlatformEvent => ({
  tenantId,
  projectId: '',
  kind: 'signal',
  severity: 'warning',
  service: '',
  environment: '',
  link: '',
  id: computeHashId('switched-off', ruleId, version, partition),
  at: new Date(timeMs).toISOString(),
  title: `Detection rule disabled: ${title}`.slice(0, 256),
  text: `Rule ${ruleId} took too long on records of partition ${partition}. It runs again after it is changed.`,
  tags: {},
  actor: { type: 'system', id: 'detections' },
  details: { ruleId, ruleVersion: version, reason: 'too-slow' },
});

const emits = {
  signals: topics.signals,
  matches: topics.detectionMatches,
  chained: topics.chainedMatches,
  events: topics.events,
  telemetry: topics.detectionTelemetry,
};
type StepContext = Context<typeof emits, typeof followedCollections, ReturnType<typeof state.open>>;

/**
 * Matches a record, or records the fields of one that no rule can match. Separate from the step, which would
 * otherwise create these closures for every record.
 */
const matchRecord = (
  record: LogRecord,
  { follows, emit, state: { costBudget, seen }, clockMs }: StepContext,
  candidateSet: PrefilterResult | undefined,
): void => {
  const deployment = compileFollowed(follows);
  const { tenantId } = record;
  const reportTelemetry = (kind: EventKind, positions: readonly ValuePosition[]): void => {
    const newTelemetry = seen.observe(kind, positions, clockMs);
    if (newTelemetry !== undefined) emit.telemetry({ ...newTelemetry, tenantId });
  };
  if (candidateSet?.candidates.length === 0) {
    reportTelemetry(candidateSet.kind, findPrefilterPositions(deployment.set, record));
    return;
  }
  const { projectId, timeMs, service } = record;
  const observer: EvaluationObserver = {
    isOff: (ruleId, version) => costBudget.isDisabled(ruleId, version),
    onRuleCost: (ruleId, version, characters) => costBudget.addCost(ruleId, version, characters),
    onEventKind: (kind, { leaves }) => reportTelemetry(kind, leaves),
  };
  const result = detect(
    deployment,
    {
      tenantId,
      projectId,
      timeMs,
      service,
      values: getRecordValues(record),
      // Evaluated lazily, only for records that match.
      get recordId() {
        return record.recordId;
      },
    },
    clockMs,
    observer,
    candidateSet,
  );
  for (const signal of result.signals) emit.signals(signal);
  for (const matchRecord of result.matches) emit.matches(matchRecord);
  for (const matchRecord of result.chained) emit.chained(matchRecord);
  for (const rule of costBudget.countRecord()) {
    const title = deployment.stored.get(rule.ruleId)?.title ?? rule.ruleId;
    emit.events(ruleDisabledEvent(record, { ...rule, title, partition: record.location.partition }));
  }
};

/** Matches each log record against all enabled rules of its organization. */
export const detections = defineProcessor({
  name: 'detections',
  summary: 'Matches log records against Sigma rules.',
  reads: logRecords,
  emits,
  follows: followedCollections,
  entitlement: 'logs',
  state,

  step(record, context) {
    const { follows, state, clockMs } = context;
    if (follows.rules.size === 0) return;
    const candidateSet = prefilterRecord(compileFollowed(follows).set, record);
    if (candidateSet?.candidates.length !== 0 || !state.seen.countUnsampled(candidateSet.kind, clockMs))
      matchRecord(record, context, candidateSet);
  },
});
