/** API views of alerts and their transitions. */
import { z } from 'zod';
import { type AlertTransition, alertSeverities, alertStates } from '../../../schemas/alerts.ts';
import type { GroupResult } from '../../../subjects/alerts/evaluate.ts';
import type { PastTransition } from '../../../subjects/alerts/history.ts';
import { findStaleSinceMs } from '../../../subjects/alerts/staleness.ts';

const Labels = z.record(z.string(), z.string());

/** Returns a time as ISO 8601; null for no time or 0. */
export const toIsoTime = (ms: number | string | null | undefined): string | null =>
  ms === null || ms === undefined || Number(ms) === 0 ? null : new Date(Number(ms)).toISOString();

/** Whether evaluations of the rule are missing. */
export const Staleness = z.strictObject({
  stale: z
    .boolean()
    .describe('Whether it was not evaluated for more than three intervals, so that the state may be outdated'),
  staleSince: z.string().nullable().describe('Time of the last evaluation, if stale'),
});

export const toStalenessView = (
  rule: Parameters<typeof findStaleSinceMs>[0],
  evaluatedMs: number,
  nowMs: number,
): z.input<typeof Staleness> => {
  const sinceMs = findStaleSinceMs(rule, evaluatedMs, nowMs);
  return { stale: sinceMs !== undefined, staleSince: toIsoTime(sinceMs) };
};

export const TransitionView = z.strictObject({
  id: z.string(),
  alertId: z.string(),
  ruleId: z.string(),
  ruleName: z.string(),
  ruleVersion: z.int(),
  projectId: z.string(),
  at: z.string(),
  from: z.enum(alertStates),
  to: z.enum(alertStates),
  severity: z.enum(alertSeverities),
  labels: Labels,
  annotations: Labels,
  startedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  value: z.number().nullable(),
  reason: z.string().describe('The reason, in a sentence'),
  isTest: z.boolean(),
});

export const toTransitionView = ({
  tenantId: _,
  held: _held,
  atMs,
  startedAtMs,
  endedAtMs,
  ...rest
}: AlertTransition) => ({
  ...rest,
  projectId: rest.projectId ?? '',
  at: new Date(atMs).toISOString(),
  startedAt: toIsoTime(startedAtMs),
  endedAt: toIsoTime(endedAtMs),
  isTest: rest.isTest === true,
});

export const toPastTransitionView = (row: PastTransition): z.input<typeof TransitionView> => ({
  id: row.id,
  alertId: row.alert_id,
  ruleId: row.rule_id,
  ruleName: row.rule_name,
  ruleVersion: row.rule_version,
  projectId: row.project,
  at: new Date(Number(row.ms)).toISOString(),
  from: row.from_state,
  to: row.to_state,
  severity: row.severity,
  labels: { ...row.labels },
  annotations: { ...row.annotations },
  startedAt: toIsoTime(row.started),
  endedAt: toIsoTime(row.ended),
  value: row.value,
  reason: row.reason,
  isTest: row.is_test,
});

export const GroupView = z.strictObject({
  alertId: z.string(),
  labels: Labels.describe('Labels of the group'),
  state: z.enum(alertStates),
  severity: z.enum(alertSeverities).nullable(),
  value: z.number().nullable(),
  reason: z.string().describe('Why it is in this state, in a sentence'),
  since: z.string().nullable().describe('Time since which the condition is met'),
  startedAt: z.string().nullable().describe('Time since which it is firing'),
});

export const toGroupView = ({ sinceMs, startedAtMs, ...group }: GroupResult): z.input<typeof GroupView> => ({
  ...group,
  labels: { ...group.labels },
  since: toIsoTime(sinceMs),
  startedAt: toIsoTime(startedAtMs),
});
