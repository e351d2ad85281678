import type { AlertEvaluation } from '../schemas/alerts.ts';
import { alertEvaluationsTable, alertStatesTable, alertTransitionsTable } from '../schemas/tables/alerts.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

const toIsoTime = (ms: number | undefined): string => new Date(ms ?? 0).toISOString();

export const alertTransitions = defineValueSink({
  topic: topics.alertTransitions,
  table: alertTransitionsTable,
  row: (transition) => ({
    tenant_id: transition.tenantId,
    project_id: transition.projectId ?? '',
    id: transition.id,
    alert_id: transition.alertId,
    rule_id: transition.ruleId,
    rule_version: transition.ruleVersion,
    rule_name: transition.ruleName,
    time: toIsoTime(transition.atMs),
    from_state: transition.from,
    to_state: transition.to,
    severity: transition.severity,
    labels: transition.labels,
    annotations: transition.annotations,
    started_at: toIsoTime(transition.startedAtMs),
    ended_at: toIsoTime(transition.endedAtMs),
    value: transition.value,
    reason: transition.reason,
    is_test: transition.isTest === true,
  }),
});

/**
 * Returns the rows of an evaluation: one for the rule itself, only in the first part, and one for each of the rule's
 * groups.
 */
const toGroupRows = ({ groups, ...evaluation }: AlertEvaluation) => [
  ...(evaluation.part > 0
    ? []
    : [
        {
          alertId: '',
          labels: {},
          state: evaluation.state,
          severity: null,
          value: evaluation.value,
          reason: '',
          sinceMs: null,
          startedAtMs: null,
        },
      ]),
  ...groups,
];

export const alertEvaluations = defineValueSink({
  topic: topics.alertEvaluations,
  table: alertEvaluationsTable,
  row: (evaluation) =>
    toGroupRows(evaluation).map(({ alertId, labels, state, severity, value, reason }) => ({
      tenant_id: evaluation.tenantId,
      project_id: evaluation.projectId,
      rule_id: evaluation.ruleId,
      rule_version: evaluation.ruleVersion,
      time: toIsoTime(evaluation.atMs),
      alert_id: alertId,
      labels,
      state,
      severity: severity ?? '',
      value,
      reason,
      error: evaluation.error,
      duration_ms: evaluation.durationMs,
      late_ms: evaluation.lateMs,
      groups: evaluation.groupCount,
      firing: evaluation.firingCount,
    })),
  merging: {
    table: alertStatesTable,
    row: (evaluation) =>
      toGroupRows(evaluation).map(({ alertId, labels, state, severity, value, reason, sinceMs, startedAtMs }) => ({
        tenant_id: evaluation.tenantId,
        project_id: evaluation.projectId,
        rule_id: evaluation.ruleId,
        alert_id: alertId,
        evaluated_ms: evaluation.atMs,
        last_seen: toIsoTime(evaluation.atMs),
        labels,
        state,
        severity: severity ?? '',
        value,
        reason,
        error: evaluation.error,
        since_ms: sinceMs ?? 0,
        started_ms: startedAtMs ?? 0,
        duration_ms: evaluation.durationMs,
        late_ms: evaluation.lateMs,
        groups: evaluation.groupCount,
        firing: evaluation.firingCount,
      })),
  },
});
