/** Runs a rule's query for a time, and returns the result in the form for evaluation. */

import { withMaxGroups } from '../../queries/all-groups.ts';
import type { Answer } from '../../queries/answer.ts';
import { QueryBatcher } from '../../queries/batch/answers.ts';
import { QueryError } from '../../queries/errors.ts';
import { type QueryWindow, runOverWindow } from '../../queries/over-window.ts';
import type { Query } from '../../queries/query.ts';
import { getQueryKind } from '../../queries/query-kind.ts';
import type { Reading } from '../../queries/reading.ts';
import { parseJsonNumber } from '../../queries/series-states.ts';
import { TimeoutError } from '../../runtime/timeout.ts';
import { boundedLabels } from '../../schemas/bounded-labels.ts';
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';
import type { GroupResponse, RuleQueryResult } from './answer.ts';
import { expressionHolds } from './composite.ts';
import { parseDurationMs } from './durations.ts';
import { readFiringLabels } from './history.ts';
import { type AlertRule, comparesCount } from './rule.ts';
import { groupKey, type Labels } from './state.ts';

/** Timeouts for the query of one evaluation: batched with those of other rules, and separate. */
export const queryTimeouts = { batchTimeoutMs: 10_000, singleTimeoutMs: 20_000 };
/** Maximum number of groups of one rule. */
export const maxGroups = 10_000;
/** Measure that counts events, for rules with a minimum number of events. */
const eventCountMeasure = 'oiq_events';

type Composite = Extract<AlertRule['condition'], { kind: 'composite' }>;
type QueryCondition = Exclude<AlertRule['condition'], Composite>;

/** Returns the query to run: with all groups, and the additional measures that the condition needs. */
const buildRuleQuery = ({ condition, minimumEvents }: AlertRule & { readonly condition: QueryCondition }): Query => {
  const query = withMaxGroups(condition.query, maxGroups);
  // An absence is detected by a count of samples: a value would remain present for some minutes after the last sample.
  const countQuery = condition.kind === 'absence' ? getQueryKind(query).countValues?.(query) : undefined;
  if (countQuery !== undefined) return countQuery;
  if ('measures' in query && minimumEvents !== undefined)
    return { ...query, measures: [...query.measures, { function: 'count', as: eventCountMeasure }] };
  return query;
};

/** Returns the query request of a rule at a time, with its window. */
export const buildQueryRequest = (
  rule: AlertRule & { readonly condition: QueryCondition },
  nowMs: number,
): { readonly query: Query; readonly window: QueryWindow } => {
  const { condition, delay } = rule;
  const toMs = nowMs - parseDurationMs(delay);
  const step = condition.kind === 'threshold' ? condition.step : undefined;
  return {
    query: buildRuleQuery(rule),
    window: {
      fromMs: toMs - parseDurationMs(condition.window),
      toMs,
      stepMs: step === undefined ? undefined : parseDurationMs(step),
    },
  };
};

const limitLabels = (labels: Labels): Labels => boundedLabels(labels, { value: 2048 });

interface ComparedMeasure {
  /** Compared measure; undefined if there is only one value. */
  readonly measure: string | undefined;
  readonly isCount: boolean;
}

const findComparedMeasure = (
  rule: AlertRule & { readonly condition: QueryCondition },
  answer: Answer,
): ComparedMeasure => {
  const { query } = rule.condition;
  if (!('measures' in query)) return { measure: undefined, isCount: false };
  const named = rule.condition.kind === 'threshold' ? rule.condition.measure : undefined;
  const measureNames = answer.columns.filter((_, index) => index >= query.groupBy.length).map(({ name }) => name);
  const first = answer.form === 'table' ? measureNames[0] : answer.series[0]?.name;
  return { measure: named ?? first, isCount: comparesCount(rule) };
};

const fromSeries = ({ series }: Answer, { measure, isCount }: ComparedMeasure): GroupResponse[] => {
  const events = new Map(
    series
      .filter(({ name }) => name === eventCountMeasure)
      .map(({ labels, points }) => [
        groupKey(limitLabels(labels)),
        points.reduce((sum, [, value]) => sum + (parseJsonNumber(value) ?? 0), 0),
      ]),
  );
  return series
    .filter(({ name }) => name !== eventCountMeasure && (measure === undefined || name === measure))
    .map(({ labels: all, points }) => {
      const labels = limitLabels(all);
      return {
        labels,
        isCount,
        points: points.map(([, value]) => parseJsonNumber(value)),
        eventCount: events.get(groupKey(labels)),
      };
    });
};

const fromTable = ({ columns, rows }: Answer, { measure, isCount }: ComparedMeasure): GroupResponse[] => {
  const isNumericColumn = (index: number): boolean => ['number', 'duration'].includes(columns[index]?.type ?? '');
  const valueColumn = columns.findIndex(
    ({ name }, index) => isNumericColumn(index) && (measure === undefined || name === measure),
  );
  const events = columns.findIndex(({ name }) => name === eventCountMeasure);
  return rows.map((row) => ({
    labels: limitLabels(
      Object.fromEntries(columns.flatMap(({ name, type }, at) => (type === 'text' ? [[name, String(row[at])]] : []))),
    ),
    isCount,
    points: [parseJsonNumber(row[valueColumn])],
    ...(events >= 0 && { eventCount: parseJsonNumber(row[events]) ?? 0 }),
  }));
};

const toGroups = (
  rule: AlertRule & { readonly condition: QueryCondition },
  answer: Answer,
  compared: ComparedMeasure,
): readonly GroupResponse[] => {
  const { query } = rule.condition;
  if (answer.form !== 'table') return fromSeries(answer, compared);
  const states = getQueryKind(query).states?.(query, answer, rule.minimumEvents);
  return states?.map((group) => ({ ...group, labels: limitLabels(group.labels) })) ?? fromTable(answer, compared);
};

/** Converts a query result to the form for evaluation. */
export const toRuleResult = (
  rule: AlertRule & { readonly condition: QueryCondition },
  answer: Answer,
): RuleQueryResult => {
  const wrong = answer.partial.find(({ code }) => code !== 'groups' && code !== 'delay');
  if (wrong !== undefined) return { kind: 'error', message: `the query returned a partial result: ${wrong.message}` };
  const compared = findComparedMeasure(rule, answer);
  const { query } = rule.condition;
  const { measure } = compared;
  if (measure !== undefined && answer.form === 'table' && !answer.columns.some(({ name }) => name === measure))
    return { kind: 'error', message: `the query has no measure ${measure}` };
  const isTable = answer.form === 'table';
  const groups = toGroups(rule, answer, compared);
  const unit = isTable
    ? answer.columns.find(
        ({ name, type }) => type !== 'text' && type !== 'time' && (measure === undefined || name === measure),
      )?.unit
    : answer.series.find(({ name }) => measure === undefined || name === measure)?.unit;
  // Without records, the result has no steps; a count is then 0.
  const isNone = 'measures' in query && query.groupBy.length === 0 && groups.length === 0;
  return {
    kind: 'groups',
    unit: unit ?? '',
    groups: isNone ? [{ labels: {}, points: [compared.isCount ? 0 : null], isCount: true, eventCount: 0 }] : groups,
    isTruncated: answer.partial.length > 0,
  };
};

const evaluateComposite = async (condition: Composite, reading: Reading, nowMs: number): Promise<RuleQueryResult> => {
  const names = Object.entries(condition.rules);
  const firing = await readFiringLabels(
    reading,
    names.map(([, id]) => id),
    nowMs,
  );
  const projected = (labels: Labels): Labels =>
    limitLabels(Object.fromEntries(condition.groupBy.map((name) => [name, labels[name] ?? ''])));
  const byName = new Map(
    names.map(([name, id]) => [name, new Set((firing.get(id) ?? []).map((labels) => groupKey(projected(labels))))]),
  );
  const groups = new Map([...firing.values()].flat().map((labels) => [groupKey(projected(labels)), projected(labels)]));
  if (condition.groupBy.length === 0) groups.set('', {});
  return {
    kind: 'groups',
    unit: '',
    groups: [...groups].map(([key, labels]) => ({
      labels,
      points: [expressionHolds(condition.expression, (name) => byName.get(name)?.has(key) === true) ? 1 : 0],
    })),
  };
};

/** Returns the reason for a failed query, for people. */
export const queryErrorMessage = (error: unknown): string =>
  error instanceof QueryError || error instanceof UnavailableError || error instanceof PermanentError
    ? error.message
    : 'the query could not be run';

interface RuleQueryOptions {
  readonly nowMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Timeout for the wait for a query slot and for the result; by default none. */
  readonly withinMs?: number;
  readonly onError?: (error: unknown) => void;
  /** Query runner of the rule's tenant, which batches the queries of rules that share it. The results are the same. */
  readonly answers?: QueryBatcher;
}

/**
 * Returns the result of the rule's query at a time. A failed query is also a result; the rule determines its effect.
 * Rejects if `signal` aborts, or with `TimeoutError` if there is no result within `withinMs` because of overload, which
 * is not a fault of the rule.
 */
export const queryRule = async (
  rule: AlertRule,
  reading: Reading,
  {
    nowMs,
    signal,
    withinMs,
    onError,
    answers = new QueryBatcher({ ...queryTimeouts, batchDelayMs: 0 }),
  }: RuleQueryOptions,
): Promise<RuleQueryResult> => {
  const { condition } = rule;
  const over = withinMs === undefined ? undefined : AbortSignal.timeout(withinMs);
  const ending = AbortSignal.any([signal, over].filter((each) => each !== undefined));
  try {
    if (condition.kind === 'composite')
      return await answers.runInSlot(() => evaluateComposite(condition, reading, nowMs), ending);
    const queryRuleFields = { ...rule, condition };
    const { query, window } = buildQueryRequest(queryRuleFields, nowMs);
    const options = { signal: ending, dueMs: nowMs, requester: rule.id };
    return toRuleResult(
      queryRuleFields,
      await runOverWindow(query, window, (part, context) => answers.run(part, reading, context, options)),
    );
  } catch (error) {
    signal?.throwIfAborted();
    if (over?.aborted === true) throw new TimeoutError(withinMs ?? 0);
    if (error instanceof TimeoutError) throw error;
    if (queryErrorMessage(error) === queryErrorMessage(undefined)) onError?.(error);
    return { kind: 'error', message: queryErrorMessage(error), isAway: error instanceof UnavailableError };
  }
};
