import { hashOf } from '../../runtime/hash-of.ts';
import type { PlatformEvent } from '../../schemas/events.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { topics } from '../../schemas/topics.ts';
import { detect } from '../../subjects/detections/detect.ts';
import type { ValuePosition } from '../../subjects/detections/event.ts';
import type { EventKind } from '../../subjects/detections/log-sources.ts';
import { prefilteredPlacesOf, prefilterRecord } from '../../subjects/detections/prefilter.ts';
import { valuesOfRecord } from '../../subjects/detections/record-event.ts';
import type { EvaluationObserver, PrefilterResult } from '../../subjects/detections/rule-set.ts';
import { type Context, defineProcessor } from '../engine/definition.ts';
import { combinedState } from '../engine/state.ts';
import { deployed, deploymentIn } from './deployments.ts';
import { costBudgetState } from './rule-budget.ts';
import { seenTelemetryState } from './seen-telemetry.ts';

const state = combinedState(2, { costBudget: costBudgetState, seen: seenTelemetryState });

/** Reports a rule that exceeded its budget. It stays disabled until it is changed. */
const switchedOff = (
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
  id: hashOf('switched-off', ruleId, version, partition),
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
type StepContext = Context<typeof emits, typeof deployed, ReturnType<typeof state.open>>;

/**
 * Matches a record, or records the fields of one that no rule can match. Separate from the step, because the closures
 * here would be created for each record.
 */
const match = (
  record: LogRecord,
  { follows, emit, state: { costBudget, seen }, clockMs }: StepContext,
  candidateSet: PrefilterResult | undefined,
): void => {
  const deployment = deploymentIn(follows);
  const { tenantId } = record;
  const saw = (kind: EventKind, places: readonly ValuePosition[]): void => {
    const first = seen.observe(kind, places, clockMs);
    if (first !== undefined) emit.telemetry({ ...first, tenantId });
  };
  if (candidateSet?.candidates.length === 0) {
    saw(candidateSet.kind, prefilteredPlacesOf(deployment.set, record));
    return;
  }
  const { projectId, timeMs, service } = record;
  const watch: EvaluationObserver = {
    isOff: (ruleId, version) => costBudget.isOff(ruleId, version),
    onRuleCost: (ruleId, version, characters) => costBudget.spent(ruleId, version, characters),
    onEventKind: (kind, { leaves }) => saw(kind, leaves),
  };
  const found = detect(
    deployment,
    {
      tenantId,
      projectId,
      timeMs,
      service,
      values: valuesOfRecord(record),
      // Not read for records that match nothing.
      get recordId() {
        return record.recordId;
      },
    },
    clockMs,
    watch,
    candidateSet,
  );
  for (const signal of found.signals) emit.signals(signal);
  for (const match of found.matches) emit.matches(match);
  for (const match of found.chained) emit.chained(match);
  for (const off of costBudget.record()) {
    const title = deployment.stored.get(off.ruleId)?.title ?? off.ruleId;
    emit.events(switchedOff(record, { ...off, title, partition: record.place.partition }));
  }
};

/** Matches each log record against all enabled rules of its organization. */
export const detections = defineProcessor({
  name: 'detections',
  summary: 'Matches log records against Sigma rules.',
  reads: logRecords,
  emits,
  follows: deployed,
  entitlement: 'logs',
  state,

  step(record, context) {
    const { follows, state, clockMs } = context;
    if (follows.rules.size === 0) return;
    const candidateSet = prefilterRecord(deploymentIn(follows).set, record);
    if (candidateSet?.candidates.length !== 0 || !state.seen.passes(candidateSet.kind, clockMs))
      match(record, context, candidateSet);
  },
});
