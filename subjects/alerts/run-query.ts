/** Runs a rule's query for a time, and returns the result in the form for evaluation. */

import { withMaxGroups } from '../../queries/all-groups.ts';
import { QueryBatcher } from '../../queries/batch/query-batcher.ts';
import { QueryError } from '../../queries/errors.ts';
import { type QueryWindow, runOverWindow } from '../../queries/over-window.ts';
import type { Query } from '../../queries/query.ts';
import { getQueryKind } from '../../queries/query-kind.ts';
import type { ResultData } from '../../queries/query-result.ts';
import { parseJsonNumber } from '../../queries/series-states.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { TimeoutError } from '../../runtime/timeout.ts';
import { boundLabels } from '../../schemas/bounded-labels.ts';
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';
import { doesExpressionHold } from './composite.ts';
import { parseDurationMs } from './durations.ts';
import { readFiringLabels } from './history.ts';
import { type AlertRule, isCountCompared } from './rule.ts';
import type { GroupQueryResult, RuleQueryResult } from './rule-query-result.ts';
import { type Labels, toGroupKey } from './state.ts';

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

const limitLabels = (labels: Labels): Labels => boundLabels(labels, { maxValueLength: 2048 });

interface ComparedMeasure {
  /** Compared measure; undefined if there is only one value. */
  readonly measure: string | undefined;
  readonly isCount: boolean;
}

const findComparedMeasure = (
  rule: AlertRule & { readonly condition: QueryCondition },
  result: ResultData,
): ComparedMeasure => {
  const { query } = rule.condition;
  if (!('measures' in query)) return { measure: undefined, isCount: false };
  const chosenMeasure = rule.condition.kind === 'threshold' ? rule.condition.measure : undefined;
  const measureNames = result.columns.filter((_, index) => index >= query.groupBy.length).map(({ name }) => name);
  const first = result.form === 'table' ? measureNames[0] : result.series[0]?.name;
  return { measure: chosenMeasure ?? first, isCount: isCountCompared(rule) };
};

const fromSeries = ({ series }: ResultData, { measure, isCount }: ComparedMeasure): GroupQueryResult[] => {
  const eventsByGroup = new Map(
    series
      .filter(({ name }) => name === eventCountMeasure)
      .map(({ labels, points }) => [
        toGroupKey(limitLabels(labels)),
        points.reduce((sum, [, value]) => sum + (parseJsonNumber(value) ?? 0), 0),
      ]),
  );
  return series
    .filter(({ name }) => name !== eventCountMeasure && (measure === undefined || name === measure))
    .map(({ labels: resultLabels, points }) => {
      const labels = limitLabels(resultLabels);
      return {
        labels,
        isCount,
        points: points.map(([, value]) => parseJsonNumber(value)),
        eventCount: eventsByGroup.get(toGroupKey(labels)),
      };
    });
};

const fromTable = ({ columns, rows }: ResultData, { measure, isCount }: ComparedMeasure): GroupQueryResult[] => {
  const isNumericColumn = (index: number): boolean => ['number', 'duration'].includes(columns[index]?.type ?? '');
  const valueColumn = columns.findIndex(
    ({ name }, index) => isNumericColumn(index) && (measure === undefined || name === measure),
  );
  const eventColumn = columns.findIndex(({ name }) => name === eventCountMeasure);
  return rows.map((row) => ({
    labels: limitLabels(
      Object.fromEntries(
        columns.flatMap(({ name, type }, index) => (type === 'text' ? [[name, String(row[index])]] : [])),
      ),
    ),
    isCount,
    points: [parseJsonNumber(row[valueColumn])],
    ...(eventColumn >= 0 && { eventCount: parseJsonNumber(row[eventColumn]) ?? 0 }),
  }));
};

const toGroups = (
  rule: AlertRule & { readonly condition: QueryCondition },
  result: ResultData,
  comparedMeasure: ComparedMeasure,
): readonly GroupQueryResult[] => {
  const { query } = rule.condition;
  if (result.form !== 'table') return fromSeries(result, comparedMeasure);
  const states = getQueryKind(query).states?.(query, result, rule.minimumEvents);
  return (
    states?.map((group) => ({ ...group, labels: limitLabels(group.labels) })) ?? fromTable(result, comparedMeasure)
  );
};

/** Converts a query result to the form for evaluation. */
export const toRuleResult = (
  rule: AlertRule & { readonly condition: QueryCondition },
  result: ResultData,
): RuleQueryResult => {
  const incompleteness = result.partial.find(({ code }) => code !== 'groups' && code !== 'delay');
  if (incompleteness !== undefined)
    return { kind: 'error', message: `the query returned a partial result: ${incompleteness.message}` };
  const comparedMeasure = findComparedMeasure(rule, result);
  const { query } = rule.condition;
  const { measure } = comparedMeasure;
  if (measure !== undefined && result.form === 'table' && !result.columns.some(({ name }) => name === measure))
    return { kind: 'error', message: `the query has no measure ${measure}` };
  const isTable = result.form === 'table';
  const groups = toGroups(rule, result, comparedMeasure);
  const unit = isTable
    ? result.columns.find(
        ({ name, type }) => type !== 'text' && type !== 'time' && (measure === undefined || name === measure),
      )?.unit
    : result.series.find(({ name }) => measure === undefined || name === measure)?.unit;
  // Without records, the result has no steps; a count is then 0.
  const isEmpty = 'measures' in query && query.groupBy.length === 0 && groups.length === 0;
  return {
    kind: 'groups',
    unit: unit ?? '',
    groups: isEmpty
      ? [{ labels: {}, points: [comparedMeasure.isCount ? 0 : null], isCount: true, eventCount: 0 }]
      : groups,
    isTruncated: result.partial.length > 0,
  };
};

const evaluateComposite = async (
  condition: Composite,
  reader: TenantReader,
  nowMs: number,
): Promise<RuleQueryResult> => {
  const ruleEntries = Object.entries(condition.rules);
  const firingLabels = await readFiringLabels(
    reader,
    ruleEntries.map(([, id]) => id),
    nowMs,
  );
  const selectLabels = (labels: Labels): Labels =>
    limitLabels(Object.fromEntries(condition.groupBy.map((name) => [name, labels[name] ?? ''])));
  const byName = new Map(
    ruleEntries.map(([name, id]) => [
      name,
      new Set((firingLabels.get(id) ?? []).map((labels) => toGroupKey(selectLabels(labels)))),
    ]),
  );
  const groups = new Map(
    [...firingLabels.values()].flat().map((labels) => [toGroupKey(selectLabels(labels)), selectLabels(labels)]),
  );
  if (condition.groupBy.length === 0) groups.set('', {});
  return {
    kind: 'groups',
    unit: '',
    groups: [...groups].map(([key, labels]) => ({
      labels,
      points: [doesExpressionHold(condition.expression, (name) => byName.get(name)?.has(key) === true) ? 1 : 0],
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
  readonly timeoutMs?: number;
  readonly onError?: (error: unknown) => void;
  /** Query runner of the rule's tenant, which batches the queries of rules that share it. The results are the same. */
  readonly batcher?: QueryBatcher;
}

/**
 * Returns the result of the rule's query at a time. A failed query is also a result; the rule determines its effect.
 * Rejects if `signal` aborts, or with `TimeoutError` if there is no result within `withinMs` because of overload, which
 * is not a fault of the rule.
 */
export const queryRule = async (
  rule: AlertRule,
  reader: TenantReader,
  {
    nowMs,
    signal,
    timeoutMs,
    onError,
    batcher = new QueryBatcher({ ...queryTimeouts, batchDelayMs: 0 }),
  }: RuleQueryOptions,
): Promise<RuleQueryResult> => {
  const { condition } = rule;
  const timeoutSignal = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const abortSignal = AbortSignal.any([signal, timeoutSignal].filter((each) => each !== undefined));
  try {
    if (condition.kind === 'composite')
      return await batcher.runInSlot(() => evaluateComposite(condition, reader, nowMs), abortSignal);
    const queryableRule = { ...rule, condition };
    const { query, window } = buildQueryRequest(queryableRule, nowMs);
    const options = { signal: abortSignal, dueMs: nowMs, requester: rule.id };
    return toRuleResult(
      queryableRule,
      await runOverWindow(query, window, (part, context) => batcher.run(part, reader, context, options)),
    );
  } catch (error) {
    signal?.throwIfAborted();
    if (timeoutSignal?.aborted === true) throw new TimeoutError(timeoutMs ?? 0);
    if (error instanceof TimeoutError) throw error;
    if (queryErrorMessage(error) === queryErrorMessage(undefined)) onError?.(error);
    return { kind: 'error', message: queryErrorMessage(error), isAway: error instanceof UnavailableError };
  }
};
