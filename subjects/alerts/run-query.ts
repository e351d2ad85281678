/** Runs a rule's query for a time, and returns the result in the form for evaluation. */

import { everyGroup } from '../../queries/all-groups.ts';
import type { Answer } from '../../queries/answer.ts';
import { Answers } from '../../queries/batch/answers.ts';
import { QueryError } from '../../queries/errors.ts';
import { answerOver, type QueryWindow } from '../../queries/over-window.ts';
import type { Query } from '../../queries/query.ts';
import { kindOf } from '../../queries/query-kind.ts';
import type { Reading } from '../../queries/reading.ts';
import { numberOf } from '../../queries/series-states.ts';
import { TimeoutError } from '../../runtime/timeout.ts';
import { boundedLabels } from '../../schemas/bounded-labels.ts';
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';
import type { GroupAnswer, RuleAnswer } from './answer.ts';
import { holds } from './composite.ts';
import { msOf } from './durations.ts';
import { firingAt } from './history.ts';
import { type AlertRule, isOfCount } from './rule.ts';
import { groupKey, type Labels } from './state.ts';

/** Timeouts for the query of one evaluation: batched with those of other rules, and separate. */
export const queryTimeouts = { sharedMs: 10_000, aloneMs: 20_000 };
/** Maximum number of groups of one rule. */
export const maxGroups = 10_000;
/** Measure that counts events, for rules with a minimum number of events. */
const eventsName = 'oiq_events';

type Composite = Extract<AlertRule['condition'], { kind: 'composite' }>;
type QueryCondition = Exclude<AlertRule['condition'], Composite>;

/** The query for the engine: all groups, and the additional values that the condition needs. */
const queryOf = ({ condition, minimumEvents }: AlertRule & { readonly condition: QueryCondition }): Query => {
  const query = everyGroup(condition.query, maxGroups);
  // Counts samples to detect whether the metric exists; a value would hold for some minutes.
  const counting = condition.kind === 'absence' ? kindOf(query).countValues?.(query) : undefined;
  if (counting !== undefined) return counting;
  if ('measures' in query && minimumEvents !== undefined)
    return { ...query, measures: [...query.measures, { function: 'count', as: eventsName }] };
  return query;
};

/** Returns the query request of a rule at a time, with its window. */
export const queryRequestOf = (
  rule: AlertRule & { readonly condition: QueryCondition },
  nowMs: number,
): { readonly query: Query; readonly window: QueryWindow } => {
  const { condition, delay } = rule;
  const toMs = nowMs - msOf(delay);
  const step = condition.kind === 'threshold' ? condition.step : undefined;
  return {
    query: queryOf(rule),
    window: { fromMs: toMs - msOf(condition.window), toMs, stepMs: step === undefined ? undefined : msOf(step) },
  };
};

const labelsOf = (labels: Labels): Labels => boundedLabels(labels, { value: 2048 });

interface ComparedFigure {
  /** Compared measure; undefined if there is only one value. */
  readonly measure: string | undefined;
  readonly isCount: boolean;
}

const comparedFigureOf = (rule: AlertRule & { readonly condition: QueryCondition }, answer: Answer): ComparedFigure => {
  const { query } = rule.condition;
  if (!('measures' in query)) return { measure: undefined, isCount: false };
  const named = rule.condition.kind === 'threshold' ? rule.condition.measure : undefined;
  const figures = answer.columns.filter((_, index) => index >= query.groupBy.length).map(({ name }) => name);
  const first = answer.form === 'table' ? figures[0] : answer.series[0]?.name;
  return { measure: named ?? first, isCount: isOfCount(rule) };
};

const fromSeries = ({ series }: Answer, { measure, isCount }: ComparedFigure): GroupAnswer[] => {
  const events = new Map(
    series
      .filter(({ name }) => name === eventsName)
      .map(({ labels, points }) => [
        groupKey(labelsOf(labels)),
        points.reduce((sum, [, value]) => sum + (numberOf(value) ?? 0), 0),
      ]),
  );
  return series
    .filter(({ name }) => name !== eventsName && (measure === undefined || name === measure))
    .map(({ labels: all, points }) => {
      const labels = labelsOf(all);
      return {
        labels,
        isCount,
        points: points.map(([, value]) => numberOf(value)),
        events: events.get(groupKey(labels)),
      };
    });
};

const fromTable = ({ columns, rows }: Answer, { measure, isCount }: ComparedFigure): GroupAnswer[] => {
  const isFigure = (index: number): boolean => ['number', 'duration'].includes(columns[index]?.type ?? '');
  const figure = columns.findIndex(({ name }, index) => isFigure(index) && (measure === undefined || name === measure));
  const events = columns.findIndex(({ name }) => name === eventsName);
  return rows.map((row) => ({
    labels: labelsOf(
      Object.fromEntries(columns.flatMap(({ name, type }, at) => (type === 'text' ? [[name, String(row[at])]] : []))),
    ),
    isCount,
    points: [numberOf(row[figure])],
    ...(events >= 0 && { events: numberOf(row[events]) ?? 0 }),
  }));
};

const groupsIn = (
  rule: AlertRule & { readonly condition: QueryCondition },
  answer: Answer,
  compared: ComparedFigure,
): readonly GroupAnswer[] => {
  const { query } = rule.condition;
  if (answer.form !== 'table') return fromSeries(answer, compared);
  const states = kindOf(query).states?.(query, answer, rule.minimumEvents);
  return states?.map((group) => ({ ...group, labels: labelsOf(group.labels) })) ?? fromTable(answer, compared);
};

/** Converts a query result to the form for evaluation. */
export const answerOf = (rule: AlertRule & { readonly condition: QueryCondition }, answer: Answer): RuleAnswer => {
  const wrong = answer.partial.find(({ code }) => code !== 'groups' && code !== 'delay');
  if (wrong !== undefined) return { kind: 'error', message: `the query returned a partial result: ${wrong.message}` };
  const compared = comparedFigureOf(rule, answer);
  const { query } = rule.condition;
  const { measure } = compared;
  if (measure !== undefined && answer.form === 'table' && !answer.columns.some(({ name }) => name === measure))
    return { kind: 'error', message: `the query has no measure ${measure}` };
  const isTable = answer.form === 'table';
  const groups = groupsIn(rule, answer, compared);
  const unit = isTable
    ? answer.columns.find(
        ({ name, type }) => type !== 'text' && type !== 'time' && (measure === undefined || name === measure),
      )?.unit
    : answer.series.find(({ name }) => measure === undefined || name === measure)?.unit;
  // Without records there are no steps, each of which counts 0.
  const isNone = 'measures' in query && query.groupBy.length === 0 && groups.length === 0;
  return {
    kind: 'groups',
    unit: unit ?? '',
    groups: isNone ? [{ labels: {}, points: [compared.isCount ? 0 : null], isCount: true, events: 0 }] : groups,
    isCut: answer.partial.length > 0,
  };
};

const evaluateComposite = async (condition: Composite, reading: Reading, nowMs: number): Promise<RuleAnswer> => {
  const names = Object.entries(condition.rules);
  const firing = await firingAt(
    reading,
    names.map(([, id]) => id),
    nowMs,
  );
  const projected = (labels: Labels): Labels =>
    labelsOf(Object.fromEntries(condition.groupBy.map((name) => [name, labels[name] ?? ''])));
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
      points: [holds(condition.expression, (name) => byName.get(name)?.has(key) === true) ? 1 : 0],
    })),
  };
};

/** Returns the reason for a failed query, for people. */
export const messageOf = (error: unknown): string =>
  error instanceof QueryError || error instanceof UnavailableError || error instanceof PermanentError
    ? error.message
    : 'the query could not be run';

interface RuleQueryOptions {
  readonly nowMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Timeout for the slot and the result; by default none. */
  readonly withinMs?: number;
  readonly onError?: (error: unknown) => void;
  /** Query runner of the rule's tenant, which batches the queries of rules that share it. The results are the same. */
  readonly answers?: Answers;
}

/**
 * Returns the result of the rule's query at a time. A failed query is also a result, whose effect the rule determines.
 * Rejects if `signal` aborts. Rejects with `LateError` if there is no result within `withinMs` because of overload,
 * which is not a fault of the rule.
 */
export const queryRule = async (
  rule: AlertRule,
  reading: Reading,
  { nowMs, signal, withinMs, onError, answers = new Answers({ ...queryTimeouts, gatherMs: 0 }) }: RuleQueryOptions,
): Promise<RuleAnswer> => {
  const { condition } = rule;
  const over = withinMs === undefined ? undefined : AbortSignal.timeout(withinMs);
  const ending = AbortSignal.any([signal, over].filter((each) => each !== undefined));
  try {
    if (condition.kind === 'composite')
      return await answers.runInSlot(() => evaluateComposite(condition, reading, nowMs), ending);
    const queryRuleFields = { ...rule, condition };
    const { query, window } = queryRequestOf(queryRuleFields, nowMs);
    const options = { signal: ending, dueMs: nowMs, requester: rule.id };
    return answerOf(
      queryRuleFields,
      await answerOver(query, window, (part, context) => answers.run(part, reading, context, options)),
    );
  } catch (error) {
    signal?.throwIfAborted();
    if (over?.aborted === true) throw new TimeoutError(withinMs ?? 0);
    if (error instanceof TimeoutError) throw error;
    if (messageOf(error) === messageOf(undefined)) onError?.(error);
    return { kind: 'error', message: messageOf(error), isAway: error instanceof UnavailableError };
  }
};
