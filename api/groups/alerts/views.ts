/** How alerts and what became of them are shown. */
import { z } from 'zod';
import { type AlertTransition, alertSeverities, alertStates } from '../../../schemas/alerts.ts';
import type { GroupResult } from '../../../subjects/alerts/evaluate.ts';
import type { PastTransition } from '../../../subjects/alerts/history.ts';
import { staleSinceMs } from '../../../subjects/alerts/staleness.ts';

const labels = z.record(z.string(), z.string());

/** An instant that may be none. */
export const iso = (ms: number | string | null | undefined): string | null =>
  ms === null || ms === undefined || Number(ms) === 0 ? null : new Date(Number(ms)).toISOString();

/** Whether rules' evaluations still come. */
export const Staleness = z.strictObject({
  stale: z
    .boolean()
    .describe('Whether it was not evaluated for more than three intervals: things may be otherwise by now'),
  staleSince: z.string().nullable().describe('When it was last evaluated, where it is stale'),
});

export const shownStaleness = (
  rule: Parameters<typeof staleSinceMs>[0],
  evaluatedMs: number,
  nowMs: number,
): z.input<typeof Staleness> => {
  const sinceMs = staleSinceMs(rule, evaluatedMs, nowMs);
  return { stale: sinceMs !== undefined, staleSince: iso(sinceMs) };
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
  labels,
  annotations: labels,
  startedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  value: z.number().nullable(),
  reason: z.string().describe('Why, in a sentence'),
  isTest: z.boolean(),
});

export const shownTransition = ({
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
  startedAt: iso(startedAtMs),
  endedAt: iso(endedAtMs),
  isTest: rest.isTest === true,
});

export const pastTransition = (row: PastTransition): z.input<typeof TransitionView> => ({
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
  startedAt: iso(row.started),
  endedAt: iso(row.ended),
  value: row.value,
  reason: row.reason,
  isTest: row.is_test,
});

export const GroupView = z.strictObject({
  alertId: z.string(),
  labels: labels.describe("The group's"),
  state: z.enum(alertStates),
  severity: z.enum(alertSeverities).nullable(),
  value: z.number().nullable(),
  reason: z.string().describe('Why it is in this state, in a sentence'),
  since: z.string().nullable().describe('Since when the condition holds'),
  startedAt: z.string().nullable().describe('Since when it fires'),
});

export const shownGroup = ({ sinceMs, startedAtMs, ...group }: GroupResult): z.input<typeof GroupView> => ({
  ...group,
  labels: { ...group.labels },
  since: iso(sinceMs),
  startedAt: iso(startedAtMs),
});
