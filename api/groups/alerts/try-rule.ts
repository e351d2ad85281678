import { z } from 'zod';
import type { QueryReader } from '../../../queries/promql/query-reader.ts';
import { parseRange } from '../../../queries/range.ts';
import { Incompleteness, Series } from '../../../queries/result.ts';
import { timeParameter } from '../../../queries/time-parameters.ts';
import { alertStates } from '../../../schemas/alerts.ts';
import { evaluate } from '../../../subjects/alerts/evaluate.ts';
import { hasPastValues, maxValues, type PastValues, pastValues } from '../../../subjects/alerts/past-values.ts';
import { createTemplateQuery } from '../../../subjects/alerts/query-text.ts';
import { type AlertRule, AlertRuleFields } from '../../../subjects/alerts/rule.ts';
import { findRuleProblems } from '../../../subjects/alerts/rule-problems.ts';
import { findRuleWarnings } from '../../../subjects/alerts/rule-warnings.ts';
import { queryErrorMessage, queryRule } from '../../../subjects/alerts/run-query.ts';
import { emptyState } from '../../../subjects/alerts/state.ts';
import { renderWithQueries } from '../../../subjects/alerts/templates/queries.ts';
import { createTestTransitions } from '../../../subjects/alerts/test-firing.ts';
import { ApiError, createFieldErrors, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { collection, parseRuleDocument } from './alert-rule.ts';
import { GroupView, TransitionView, toGroupView, toTransitionView } from './views.ts';

/** Maximum groups in a preview */
const maxGroups = 1000;

const PastValuesView = z.strictObject({
  from: z.string(),
  to: z.string(),
  stepMs: z.int(),
  series: z
    .array(Series)
    .describe(
      'Series with the largest values; each value is at the end of its window, when the rule would have read it',
    ),
  limits: z
    .array(
      z.strictObject({
        severity: z.string(),
        operator: z.string(),
        value: z.number(),
        upper: z.number().nullable().describe('Upper bound of the operator outside; null for other operators'),
      }),
    )
    .describe('Thresholds, in the unit of the values'),
  partial: z.array(Incompleteness),
  error: z.string().nullable().describe('Why there are no values; null if there are'),
});

const toIsoTime = (ms: number): string => new Date(ms).toISOString();

const toPastValuesView = ({
  fromMs,
  toMs,
  stepMs,
  series,
  thresholds,
  partial,
}: PastValues): z.input<typeof PastValuesView> => ({
  from: toIsoTime(fromMs),
  to: toIsoTime(toMs),
  stepMs,
  error: null,
  series: [...series],
  limits: [...thresholds],
  partial: [...partial],
});

interface PastRange {
  readonly from: string;
  readonly to: string;
}

/** Reads the past values of a rule. If the query fails, its error is returned, because the rest of the response does not need them. */
const readPastValues = async (
  { condition, delay }: AlertRule,
  { from, to }: PastRange,
  reader: QueryReader,
  signal: AbortSignal,
): Promise<z.input<typeof PastValuesView> | null> => {
  const range = parseRange({ from, to }, reader.nowMs);
  if (!hasPastValues(condition)) return null;
  try {
    return toPastValuesView(await pastValues({ condition, delay }, reader, { range, signal }));
  } catch (error) {
    signal.throwIfAborted();
    return {
      from: toIsoTime(reader.nowMs),
      to: toIsoTime(reader.nowMs),
      stepMs: 0,
      error: queryErrorMessage(error),
      ...noPastValues,
    };
  }
};
const noPastValues = { series: [], limits: [], partial: [] };

export const previewAlertRule = defineOperation({
  method: 'POST',
  path: '/api/alerts/rules/preview',
  operationId: 'previewAlertRule',
  summary: 'Preview a rule as if it had never been evaluated: each group with its state and the reason',
  role: 'editor',
  auditExemption: 'read-only',
  query: z.strictObject({
    from: timeParameter
      .optional()
      .describe(
        `Also return the values that it would have compared since then, at most the last ${maxValues} windows or steps`,
      ),
    to: timeParameter.default('now'),
  }),
  body: AlertRuleFields,
  response: z.strictObject({
    state: z.enum(alertStates),
    error: z.string().nullable().describe('Why the evaluation failed; null if it succeeded'),
    at: z.string(),
    groupCount: z.int(),
    groups: z.array(GroupView).describe(`At most ${maxGroups}`),
    transitions: z.array(TransitionView).describe(`Notifications that it would send; at most ${maxGroups}`),
    warnings: z
      .array(z.strictObject({ path: z.string(), message: z.string() }))
      .describe('Warnings about settings that are valid but probably not intended'),
    past: PastValuesView.nullable().describe(
      'null if not requested, or if the condition has no values over time, for example an SLO, a check or other rules',
    ),
  }),
  async handler({ caller, query, body, signal }, ports) {
    const problems = findRuleProblems(body);
    if (problems.length > 0) throw createFieldErrors(problems);
    const nowMs = ports.clock.now();
    const rule = { ...body, id: 'preview', version: 1 };
    const reader = createQueryReader(caller, ports);
    const { from, to } = query;
    const [queryResult, past] = await Promise.all([
      queryRule(rule, reader, {
        nowMs,
        signal,
        onError: (error) => ports.log.warn({ error }, 'the query of a preview failed'),
      }),
      from === undefined ? null : readPastValues(rule, { from, to }, reader, signal),
    ]);
    const { tenantId } = caller;
    const evaluation = await renderWithQueries(
      (queryResults) => evaluate({ tenantId, rule, prior: emptyState(), result: queryResult, nowMs, queryResults }),
      createTemplateQuery(reader, { signal }),
    );
    return {
      state: evaluation.ruleState,
      error: evaluation.error ?? null,
      at: new Date(nowMs).toISOString(),
      groupCount: evaluation.groups.length,
      groups: evaluation.groups.slice(0, maxGroups).map(toGroupView),
      transitions: evaluation.transitions.slice(0, maxGroups).map(toTransitionView),
      warnings: await findRuleWarnings(rule, reader, queryResult, nowMs),
      past,
    };
  },
});

export const testAlertRule = defineOperation({
  method: 'POST',
  path: '/api/alerts/rules/{id}/test',
  operationId: 'testAlertRule',
  summary:
    'Send one firing and one resolved notification of an alert rule, marked as a test, through the current routing',
  role: 'editor',
  audit: 'alert-rule.test',
  params: idParameter,
  body: z.strictObject({
    labels: z
      .record(z.string().min(1).max(256), z.string().max(2048))
      .default({})
      .describe('Labels of the firing group; omitted grouping labels have the value test'),
  }),
  response: z.strictObject({ transitions: z.array(TransitionView) }),
  async handler({ caller, params, body, change, signal }, ports) {
    const document = await ports.documents.forTenant(caller.tenantId).collection(collection).find(params.id);
    if (document === undefined) throw createNotFoundError('alert rule');
    const rule = parseRuleDocument(document);
    if (rule === undefined) throw new ApiError('CONFLICT', 'the format of this rule is not supported');
    const { tenantId } = caller;
    const nowMs = ports.clock.now();
    const transitions = await renderWithQueries(
      (queryResults) => createTestTransitions(rule, { tenantId, labels: body.labels, nowMs, queryResults }),
      createTemplateQuery(createQueryReader(caller, ports), { signal }),
    );
    await ports.alertTransitions.publish(...transitions);
    await change(async ({ record }) => record({ id: rule.id, name: rule.name, after: { labels: body.labels } }));
    return { transitions: transitions.map(toTransitionView) };
  },
});
