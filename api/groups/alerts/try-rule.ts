import { z } from 'zod';
import type { QueryReading } from '../../../queries/promql/reading.ts';
import { parseRange } from '../../../queries/range.ts';
import { Incompleteness, Series } from '../../../queries/result.ts';
import { timeParameter } from '../../../queries/time-parameters.ts';
import { alertStates } from '../../../schemas/alerts.ts';
import { evaluate } from '../../../subjects/alerts/evaluate.ts';
import { hasPast, maxValues, type PastValues, pastValues } from '../../../subjects/alerts/past-values.ts';
import { createTextQuery } from '../../../subjects/alerts/query-text.ts';
import { type AlertRule, AlertRuleFields } from '../../../subjects/alerts/rule.ts';
import { problemsOf } from '../../../subjects/alerts/rule-problems.ts';
import { warningsOf } from '../../../subjects/alerts/rule-warnings.ts';
import { messageOf, queryRule } from '../../../subjects/alerts/run-query.ts';
import { emptyState } from '../../../subjects/alerts/state.ts';
import { withTextAnswers } from '../../../subjects/alerts/templates/queries.ts';
import { testFiring } from '../../../subjects/alerts/test-firing.ts';
import { ApiError, invalidFields, notFound } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { collection, ruleIn } from './alert-rule.ts';
import { GroupView, shownGroup, shownTransition, TransitionView } from './views.ts';

/** Maximum groups in a preview */
const maxShown = 1000;

const Past = z.strictObject({
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

const time = (ms: number): string => new Date(ms).toISOString();

const shownPast = ({ fromMs, toMs, stepMs, series, limits, partial }: PastValues): z.input<typeof Past> => ({
  from: time(fromMs),
  to: time(toMs),
  stepMs,
  error: null,
  series: [...series],
  limits: [...limits],
  partial: [...partial],
});

interface PastRange {
  readonly from: string;
  readonly to: string;
}

/** A failed query returns its error: the rest of the answer does not need past values. */
const pastOf = async (
  { condition, delay }: AlertRule,
  { from, to }: PastRange,
  reading: QueryReading,
  signal: AbortSignal,
): Promise<z.input<typeof Past> | null> => {
  const range = parseRange({ from, to }, reading.nowMs);
  if (!hasPast(condition)) return null;
  try {
    return shownPast(await pastValues({ condition, delay }, reading, { range, signal }));
  } catch (error) {
    signal.throwIfAborted();
    return { from: time(reading.nowMs), to: time(reading.nowMs), stepMs: 0, error: messageOf(error), ...empty };
  }
};
const empty = { series: [], limits: [], partial: [] };

export const previewAlertRule = defineOperation({
  method: 'POST',
  path: '/api/alerts/rules/preview',
  operationId: 'previewAlertRule',
  summary: 'Preview a rule as if it had never been evaluated: each group with its state and the reason',
  role: 'editor',
  unaudited: 'it reads telemetry, as lists do',
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
    groups: z.array(GroupView).describe(`At most ${maxShown}`),
    transitions: z.array(TransitionView).describe(`Notifications that it would send; at most ${maxShown}`),
    warnings: z
      .array(z.strictObject({ path: z.string(), message: z.string() }))
      .describe('Warnings about settings that are valid but probably not intended'),
    past: Past.nullable().describe(
      'null if not requested, or if the condition has no values over time, for example an SLO, a check or other rules',
    ),
  }),
  async handler({ caller, query, body, signal }, ports) {
    const problems = problemsOf(body);
    if (problems.length > 0) throw invalidFields(problems);
    const nowMs = ports.clock.now();
    const rule = { ...body, id: 'preview', version: 1 };
    const reading = readingOf(caller, ports);
    const { from, to } = query;
    const [answer, past] = await Promise.all([
      queryRule(rule, reading, {
        nowMs,
        signal,
        onError: (error) => ports.log.warn({ error }, 'the query of a preview failed'),
      }),
      from === undefined ? null : pastOf(rule, { from, to }, reading, signal),
    ]);
    const { tenantId } = caller;
    const evaluation = await withTextAnswers(
      (queried) => evaluate({ tenantId, rule, prior: emptyState(), answer, nowMs, queried }),
      createTextQuery(reading, { signal }),
    );
    return {
      state: evaluation.ruleState,
      error: evaluation.error ?? null,
      at: new Date(nowMs).toISOString(),
      groupCount: evaluation.groups.length,
      groups: evaluation.groups.slice(0, maxShown).map(shownGroup),
      transitions: evaluation.transitions.slice(0, maxShown).map(shownTransition),
      warnings: await warningsOf(rule, reading, answer, nowMs),
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
    const document = await ports.documents.of(caller.tenantId).collection(collection).find(params.id);
    if (document === undefined) throw notFound('alert rule');
    const rule = ruleIn(document);
    if (rule === undefined) throw new ApiError('CONFLICT', 'the format of this rule is not supported');
    const { tenantId } = caller;
    const nowMs = ports.clock.now();
    const transitions = await withTextAnswers(
      (queried) => testFiring(rule, { tenantId, labels: body.labels, nowMs, queried }),
      createTextQuery(readingOf(caller, ports), { signal }),
    );
    await ports.alertTransitions.publish(...transitions);
    await change(async ({ record }) => record({ id: rule.id, name: rule.name, after: { labels: body.labels } }));
    return { transitions: transitions.map(shownTransition) };
  },
});
