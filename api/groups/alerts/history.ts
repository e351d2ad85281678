import { z } from 'zod';
import { alertSeverities, alertStates } from '../../../schemas/alerts.ts';
import { readEvaluations, readTransitions } from '../../../subjects/alerts/history.ts';
import { finishHistoryPage, historyParameters, parseHistoryPage } from '../../../subjects/events/history-page.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { collection } from './alert-rule.ts';
import { TransitionView, toPastTransitionView } from './views.ts';

export const listAlertHistory = defineOperation({
  method: 'GET',
  path: '/api/alerts/history',
  operationId: 'listAlertHistory',
  summary: 'List state changes of alerts, the newest first, each with its reason',
  role: 'viewer',
  query: z.strictObject({
    ...historyParameters,
    ruleId: z.string().max(128).optional(),
    alertId: z.string().max(128).optional(),
  }),
  response: z.strictObject({ items: z.array(TransitionView), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const page = parseHistoryPage('alert-history', query, reader);
    const rows = await readTransitions(reader, query, page);
    const { shown, nextCursor } = finishHistoryPage('alert-history', rows, {
      ...page,
      limit: query.limit,
      getId: ({ id }) => id,
    });
    return { items: shown.map(toPastTransitionView), nextCursor };
  },
});

const EvaluationView = z.strictObject({
  at: z.string().describe('Time of the evaluated state'),
  state: z.enum(alertStates),
  severity: z.enum(alertSeverities).nullable(),
  value: z.number().nullable(),
  reason: z.string().describe('Why the alert was in this state; empty for the rule'),
  labels: z.record(z.string(), z.string()).describe('Labels of the group; empty for the rule'),
  error: z.string().nullable().describe('Why the evaluation failed; null if it succeeded'),
  ruleVersion: z.int(),
  durationMs: z.number(),
  lateMs: z.int().describe('Delay between `at` and its end'),
  groups: z.int(),
  firing: z.int(),
});

export const listEvaluations = defineOperation({
  method: 'GET',
  path: '/api/alerts/rules/{id}/evaluations',
  operationId: 'listAlertRuleEvaluations',
  summary:
    'List evaluations of an alert rule, the newest first: of the rule, or of one alert with the reason for its state',
  role: 'viewer',
  params: idParameter,
  query: z.strictObject({
    ...historyParameters,
    alertId: z.string().min(1).max(128).optional().describe('Evaluations of this alert; by default of the rule'),
  }),
  response: z.strictObject({ items: z.array(EvaluationView), nextCursor: z.string().nullable() }),
  async handler({ caller, params, query }, ports) {
    const rule = await ports.documents.forTenant(caller.tenantId).collection(collection).find(params.id);
    if (rule === undefined) throw createNotFoundError('alert rule');
    const reader = createQueryReader(caller, ports);
    const page = parseHistoryPage('alert-evaluations', query, reader);
    const rows = await readEvaluations(reader, { ruleId: rule.id, alertId: query.alertId ?? '' }, page);
    const { shown, nextCursor } = finishHistoryPage('alert-evaluations', rows, {
      ...page,
      limit: query.limit,
      getId: () => query.alertId ?? '-',
    });
    return {
      items: shown.map((row) => ({
        at: new Date(Number(row.ms)).toISOString(),
        state: row.state,
        severity: row.severity || null,
        value: row.value,
        reason: row.reason,
        labels: { ...row.labels },
        error: row.error || null,
        ruleVersion: row.rule_version,
        durationMs: row.duration_ms,
        lateMs: row.late_ms,
        groups: row.groups,
        firing: row.firing,
      })),
      nextCursor,
    };
  },
});
