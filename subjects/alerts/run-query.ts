/** Runs a rule's query for a time, and returns the result in the form for evaluation. */

import { everyGroup } from '../../queries/all-groups.ts';
import { statusFigureCount } from '../../queries/anomalies/status-table.ts';
import type { Answer } from '../../queries/answer.ts';
import { Answers } from '../../queries/batch/answers.ts';
import { QueryError } from '../../queries/errors.ts';
import { forecastFigures } from '../../queries/forecast/run-forecast.ts';
import { answerOver, type QueryWindow } from '../../queries/over-window.ts';
import type { Query, SloQuery } from '../../queries/query.ts';
import type { Reading } from '../../queries/reading.ts';
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
  if (query.kind === 'metric' && condition.kind === 'absence') return { ...query, overTime: 'count', across: 'sum' };
  if (query.kind === 'aggregate' && minimumEvents !== undefined)
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

/** Returns the number for a JSON value: JSON has no number for some values. */
export const numberOf = (value: unknown): number | null => {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return value;
  const text = String(value)
    .replace(/^\+?inf(inity)?$/i, 'Infinity')
    .replace(/^-inf(inity)?$/i, '-Infinity');
  return Number(text);
};

const labelsOf = (labels: Labels): Labels => boundedLabels(labels, { value: 2048 });

interface ComparedFigure {
  /** Compared measure; undefined if there is only one value. */
  readonly measure: string | undefined;
  readonly isCount: boolean;
}

const comparedFigureOf = (rule: AlertRule & { readonly condition: QueryCondition }, answer: Answer): ComparedFigure => {
  const { query } = rule.condition;
  if (query.kind !== 'aggregate') return { measure: undefined, isCount: false };
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

/** A burn rate that is mostly unknown is ignored, as is one from a single bad event. */
const fromSlo = ({ minimumEvents }: AlertRule, { windows, figure }: SloQuery, table: Answer): GroupAnswer[] =>
  fromTable(table, { measure: figure, isCount: false }).map((group, index) => {
    const of = (name: string): number =>
      numberOf(table.rows[index]?.[table.columns.findIndex((column) => column.name === name)]) ?? 0;
    if (windows === undefined || figure === 'coverage') return group;
    if (of('coverage') < 0.5) {
      const known = Math.floor(of('coverage') * 100);
      return { ...group, unknown: `${known} % of the slices of the longest window have data; 50 % are required` };
    }
    if (figure === 'sli') return group;
    const isFew = minimumEvents === undefined ? of('bad') <= 1 : of('total') < minimumEvents;
    const tooFew =
      minimumEvents === undefined
        ? `${of('bad')} bad events do not exceed 1`
        : `a total of ${of('total')} is less than the required ${minimumEvents}`;
    return { ...group, events: minimumEvents, ...(isFew && { tooFew }) };
  });

/** A check and its locations, with their descriptions. During maintenance nothing starts, and recovered alerts end. */
const fromCheck = ({ columns, rows }: Answer): GroupAnswer[] =>
  rows.map((row) => {
    const of = (name: string): unknown => row[columns.findIndex((column) => column.name === name)];
    const value = numberOf(of('value'));
    const reason = String(of('says'));
    const isSilent = value === null || (of('maintenance') === 1 && value !== 0);
    return {
      labels: labelsOf({ location: String(of('location')) }),
      points: [value],
      says: { text: String(of('state')), reason: reason },
      ...(isSilent && { unknown: reason }),
    };
  });

/** Series with a state and its description. `figures` columns follow the label columns. */
const fromStates = ({ columns, rows }: Answer, figures: number): GroupAnswer[] => {
  const first = columns.length - figures;
  const at = (name: string): number => columns.findIndex((column, index) => index >= first && column.name === name);
  const [state, messageIndex] = [at('state'), at('says')];
  return rows.map((row) => {
    const value = numberOf(row[first]);
    const reason = String(row[messageIndex]);
    const labels = Object.fromEntries(columns.slice(0, first).map(({ name }, index) => [name, String(row[index])]));
    const own = { labels: labelsOf(labels), points: [value], says: { text: String(row[state]), reason: reason } };
    return value === null ? { ...own, unknown: reason } : own;
  });
};

const groupsIn = (
  rule: AlertRule & { readonly condition: QueryCondition },
  answer: Answer,
  compared: ComparedFigure,
): readonly GroupAnswer[] => {
  const { query } = rule.condition;
  if (answer.form !== 'table') return fromSeries(answer, compared);
  if (query.kind === 'slo') return fromSlo(rule, query, answer);
  if (query.kind === 'anomaly') return fromStates(answer, statusFigureCount);
  if (query.kind === 'forecast') return fromStates(answer, forecastFigures);
  return query.kind === 'check' ? fromCheck(answer) : fromTable(answer, compared);
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
  const isNone = query.kind === 'aggregate' && query.groupBy.length === 0 && groups.length === 0;
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
