/**
 * Converts evaluations to records for the evaluation history and the alert states, and transitions to events for the
 * feed.
 */

import type { AlertEvaluation, AlertTransition } from '../../schemas/alerts.ts';
import { type PlatformEvent, toEventTags } from '../../schemas/events.ts';
import type { Evaluation, GroupResult } from './evaluate.ts';
import type { RuleOutcome } from './recording/evaluate.ts';
import type { AlertRule } from './rule.ts';

/** Maximum number of inactive groups in the output. */
const maxInactiveGroups = 200;
/** Maximum length in characters of the groups in one part, because a message may have at most a megabyte. */
const maxPartSize = 256 * 1024;

const statesBySeverity = ['firing', 'recovering', 'unknown', 'pending', 'inactive'] as const;

/** Groups in the output: all that are active or have just become inactive, and some of the others. */
const selectReportedGroups = ({ groups, transitions }: Evaluation): GroupResult[] => {
  const changedAlertIds = new Set(transitions.map(({ alertId }) => alertId));
  let inactiveCount = 0;
  return groups.filter(
    ({ state, alertId }) => state !== 'inactive' || changedAlertIds.has(alertId) || inactiveCount++ < maxInactiveGroups,
  );
};

const splitIntoParts = (groups: readonly GroupResult[]): GroupResult[][] => {
  const parts: GroupResult[][] = [[]];
  let size = 0;
  for (const group of groups) {
    const groupSize = JSON.stringify(group).length;
    if (size + groupSize > maxPartSize) {
      parts.push([]);
      size = 0;
    }
    size += groupSize;
    parts.at(-1)?.push({ ...group, reason: group.reason.slice(0, 4096) });
  }
  return parts;
};

interface EvaluationContext {
  readonly tenantId: string;
  readonly rule: AlertRule;
  readonly nowMs: number;
  readonly durationMs: number;
  readonly lateMs: number;
}

/** Converts an evaluation to records for the topic `alert-evaluations`. */
export const toEvaluationRecords = (
  evaluation: Evaluation,
  { tenantId, rule, nowMs, durationMs, lateMs }: EvaluationContext,
): AlertEvaluation[] => {
  const { groups, ruleState, error = '' } = evaluation;
  const worstGroup = statesBySeverity
    .map((rank) => groups.find(({ state }) => state === rank))
    .find((group) => group !== undefined);
  return splitIntoParts(selectReportedGroups(evaluation)).map((part, index) => ({
    tenantId,
    projectId: rule.projectId ?? '',
    ruleId: rule.id,
    ruleVersion: rule.version,
    atMs: nowMs,
    durationMs,
    lateMs: Math.min(Math.max(0, Math.round(lateMs)), 2 ** 31),
    state: ruleState,
    error: error.slice(0, 4096),
    groupCount: groups.length,
    firingCount: groups.filter(({ state }) => state === 'firing' || state === 'recovering').length,
    value: worstGroup?.value ?? null,
    part: index,
    groups: part,
  }));
};

interface RecordingEvaluation {
  readonly tenantId: string;
  readonly ruleId: string;
  readonly ruleVersion: number;
  readonly nowMs: number;
  readonly lateMs: number;
  readonly outcome: RuleOutcome;
}

/** Converts an evaluation of a recording rule to a record for the same topic, without alerts. */
export const toRecordingRecord = ({ outcome, nowMs, lateMs, ...ruleIds }: RecordingEvaluation): AlertEvaluation => ({
  ...ruleIds,
  projectId: '',
  atMs: nowMs,
  durationMs: outcome.durationMs,
  lateMs: Math.min(Math.max(0, Math.round(lateMs)), 2 ** 31),
  state: 'inactive',
  error: (outcome.error ?? '').slice(0, 4096),
  groupCount: outcome.series,
  firingCount: 0,
  value: null,
  part: 0,
  groups: [],
});

const describeTransition = ({ from, to }: AlertTransition): string | undefined => {
  if (to === 'firing') return from === 'firing' || from === 'recovering' ? undefined : 'fires';
  if (to === 'unknown') return 'is unknown';
  return undefined;
};

/** Converts a transition to an event for the feed; undefined for a transition that is not relevant to users. */
export const toPlatformEvent = (transition: AlertTransition): PlatformEvent | undefined => {
  const { tenantId, projectId = '', ruleName, labels, severity, atMs, to, from, value, endedAtMs } = transition;
  const verb = endedAtMs === undefined ? describeTransition(transition) : 'ended';
  if (verb === undefined || transition.isTest === true) return undefined;
  return {
    tenantId,
    projectId,
    id: transition.id,
    kind: 'alert',
    at: new Date(atMs).toISOString(),
    severity: endedAtMs === undefined ? severity : 'info',
    title: `${ruleName.slice(0, 240)} ${verb}`,
    text: transition.reason.slice(0, 8192),
    service: (labels['service'] ?? labels['service.name'] ?? '').slice(0, 512),
    environment: '',
    tags: toEventTags(labels),
    link: '',
    actor: { type: 'system', id: 'alerts' },
    details: { ruleId: transition.ruleId, alertId: transition.alertId, from, to, value, severity },
  };
};
