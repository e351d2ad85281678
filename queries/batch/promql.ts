/**
 * Runs several PromQL queries over one range. One query selects the series of all selectors, and each series is read
 * once per window. Each expression is evaluated over its own series. For repeated queries, only steps that may have
 * changed are read and evaluated.
 */
import { setImmediate as next } from 'node:timers/promises';
import type { QueryOutcome, ReportOutcome } from '../outcome.ts';
import { mergeAdditionalSeries } from '../promql/additional-series.ts';
import type { EvaluationWindow } from '../promql/evaluation/messages.ts';
import { readFingerprints } from '../promql/fetch/block-fingerprints.ts';
import { getRetentionStartMs } from '../promql/fetch/scope.ts';
import type { SelectedSeries } from '../promql/fetch/select-series.ts';
import { type EvaluationResult, evaluate, listSelections, parse } from '../promql/index.ts';
import type { QueryReader } from '../promql/query-reader.ts';
import { buildPromqlResult, buildPromqlWindow, toQueryError } from '../promql/run-promql.ts';
import type { Selection, Series } from '../promql/series.ts';
import {
  type CachedStepsReader,
  emptyEvaluation,
  getBlockLengthMs,
  hasCacheableSteps,
  readCachedSteps,
  recordFingerprints,
  type StepsQuery,
} from '../promql/steps-cache.ts';
import { compileTest } from '../promql/syntax/matchers.ts';
import type { PromqlQuery } from '../query.ts';
import type { QueryContext } from '../query-result.ts';
import {
  BatchTooLargeError,
  findMetricName,
  readSeriesByWindow,
  type SeriesByWindow,
  selectSeriesByName,
  toWindowKey,
} from './named-series.ts';
import {
  type BatchContext,
  findTooLargeMembers,
  type Group,
  groupByFirstStep,
  type Member,
  planRounds,
} from './promql-rounds.ts';

/** Maximum number of queries whose series are read in one batch. */
export const maxPromqlQueries = 200;
const maxSteps = 1000;

/** Returns whether a query can be batched. */
export const isBatchablePromql = (context: QueryContext): boolean => {
  const { startMs, endMs, stepMs } = buildPromqlWindow(context);
  return stepMs === 0 || (endMs - startMs) / stepMs <= maxSteps;
};

const filterByMatchers = (series: readonly Series[], { matchers }: Selection): readonly Series[] => {
  const tests = matchers
    .filter(({ name }) => name !== '__name__')
    .map((matcher) => ({ name: matcher.name, test: compileTest(matcher) }));
  return tests.length === 0
    ? series
    : series.filter(({ labels }) => tests.every(({ name, test }) => test(labels[name] ?? '')));
};

/**
 * Returns the results of `runPromql` for each query, and reports each as soon as it is known. Throws if the series
 * cannot be read. Queries that are too large must run alone.
 */
export const runPromqlBatch = async (
  queries: readonly PromqlQuery[],
  reader: QueryReader,
  context: QueryContext,
  report: ReportOutcome = () => undefined,
): Promise<QueryOutcome[]> => {
  const expressions = queries.map(({ expression }) => expression);
  const outcomes: QueryOutcome[] = queries.map(() => undefined);
  await evaluateBatch(expressions, reader, buildPromqlWindow(context), (index, evaluation) => {
    const outcome = toQueryOutcome(queries[index] as PromqlQuery, evaluation, context);
    outcomes[index] = outcome;
    report(index, outcome);
  });
  return outcomes;
};

const toQueryOutcome = (
  query: PromqlQuery,
  evaluation: EvaluationOutcome,
  context: QueryContext,
): Exclude<QueryOutcome, undefined> => {
  if ('error' in evaluation) return evaluation;
  try {
    return { result: buildPromqlResult(query, evaluation, context) };
  } catch (error) {
    return { error };
  }
};

type EvaluationOutcome = EvaluationResult | { readonly error: unknown };
type MaybeOutcome = EvaluationOutcome | undefined;
type ReportEvaluation = (index: number, outcome: EvaluationOutcome) => void;

/** Returns the members that can be batched. The error of an invalid query is reported as its outcome. */
const parseMembers = (expressions: readonly string[], window: EvaluationWindow, report: ReportEvaluation): Member[] => {
  const members: Member[] = [];
  for (const [index, expression] of expressions.entries())
    try {
      const parsed = parse(expression);
      const selections = listSelections(parsed, window);
      if (selections.every((selection) => findMetricName(selection) !== undefined))
        members.push({ index, parsed, selections });
    } catch (error) {
      report(index, { error: toQueryError(error) });
    }
  return members;
};

/**
 * Awaits the work of a batch; returns undefined if a query is too large or not supported in a batch and must run alone.
 */
const awaitUnlessTooLarge = async <Result>(work: Promise<Result>): Promise<Result | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof BatchTooLargeError || toQueryError(error) !== error) return undefined;
    throw error;
  }
};

const selectBatchSeries = (
  { scope, retainedFromMs }: BatchContext,
  members: readonly Member[],
): Promise<readonly SelectedSeries[]> => {
  const allSelections = members.flatMap(({ selections }) => selections);
  const names = [...new Set(allSelections.map((selection) => findMetricName(selection) ?? ''))].sort();
  const selectionWindow = {
    fromMs: Math.max(retainedFromMs, Math.min(...allSelections.map(({ fromMs }) => fromMs))),
    toMs: Math.max(...allSelections.map(({ toMs }) => toMs)),
  };
  return selectSeriesByName(scope, selectionWindow, names);
};

/** Returns the queries whose steps may be cached. */
const buildStepsQueries = (
  { scope, additionalSeries, window, retainedFromMs }: BatchContext,
  members: readonly Member[],
  selectedSeries: readonly SelectedSeries[],
): Map<Member, StepsQuery> => {
  const stepsQueries = new Map<Member, StepsQuery>();
  // Without a source nothing is cached.
  if (additionalSeries.length > 0 || scope.columns.source === undefined) return stepsQueries;
  const byName = Map.groupBy(selectedSeries, ({ labels }) => labels['__name__'] ?? '');
  const sourcesByName = new Map(
    [...byName].map(([name, seriesOfName]) => [name, seriesOfName.flatMap(({ sources }) => sources)]),
  );
  for (const member of members) {
    const { parsed, selections } = member;
    if (!hasCacheableSteps(parsed, window) || selections.some(({ fromMs }) => fromMs < retainedFromMs)) continue;
    const reads = selections.map((selection) => ({
      window: selection,
      sources: sourcesByName.get(findMetricName(selection) ?? '') ?? [],
    }));
    stepsQueries.set(member, { scope, expression: parsed.text, window, reads });
  }
  return stepsQueries;
};

const evaluateMember = (
  { parsed }: Member,
  { window }: Group,
  {
    seriesByWindow,
    added,
    cachedSteps,
  }: {
    readonly seriesByWindow: SeriesByWindow;
    readonly added: readonly Series[];
    readonly cachedSteps: CachedStepsReader | undefined;
  },
): EvaluationResult | { readonly error: unknown } => {
  try {
    if (window.startMs > window.endMs) return cachedSteps?.complete(emptyEvaluation, window.startMs) ?? emptyEvaluation;
    const selections = listSelections(parsed, window);
    const evaluation = evaluate(parsed, window, (number) => {
      const selection = selections[number] as Selection;
      const series = seriesByWindow.get(toWindowKey(selection))?.get(findMetricName(selection) ?? '') ?? [];
      return mergeAdditionalSeries(filterByMatchers(series, selection), selection, added);
    });
    return cachedSteps?.complete(evaluation, window.startMs) ?? evaluation;
  } catch (error) {
    return { error: toQueryError(error) };
  }
};

/** Evaluates members whose series were selected; reports nothing for those that are too large. */
const evaluateMembers = async (
  batch: BatchContext,
  members: readonly Member[],
  selectedSeries: readonly SelectedSeries[],
  report: ReportEvaluation,
): Promise<void> => {
  const { scope, additionalSeries, window } = batch;
  const stepsQueries = buildStepsQueries(batch, members, selectedSeries);
  const fingerprints = await readFingerprints(
    scope.columns,
    [...stepsQueries.values()].flatMap(({ reads }) => reads),
    getBlockLengthMs(window),
  );
  const cachedSteps = new Map(
    [...stepsQueries].map(([member, stepsQuery]) => [member, readCachedSteps(stepsQuery, fingerprints)]),
  );
  const tooLargeMembers = findTooLargeMembers(batch, stepsQueries, { fingerprints: fingerprints, cachedSteps });
  for (const member of tooLargeMembers) recordFingerprints(stepsQueries.get(member) as StepsQuery, fingerprints);
  const batchMembers = members.filter((member) => !tooLargeMembers.has(member));
  for (const group of groupByFirstStep(batch, batchMembers, cachedSteps)) {
    const seriesByWindow = await awaitUnlessTooLarge(
      readSeriesByWindow({ ...batch, window: group.window }, group.selections, selectedSeries),
    );
    for (const member of group.members) {
      const stepsQuery = stepsQueries.get(member);
      if (seriesByWindow !== undefined)
        report(
          member.index,
          evaluateMember(member, group, {
            seriesByWindow: seriesByWindow,
            added: additionalSeries,
            cachedSteps: cachedSteps.get(member),
          }),
        );
      else if (stepsQuery !== undefined) recordFingerprints(stepsQuery, fingerprints);
      // Yields to other work between two members.
      await next();
    }
  }
};

/**
 * Returns the result of `evaluatePromql` or the error for each expression, and reports it as soon as it is known;
 * undefined if an expression must run alone. Throws if the series cannot be read.
 */
export const evaluateBatch = async (
  expressions: readonly string[],
  { columns, promql, plan, nowMs }: QueryReader,
  window: EvaluationWindow,
  report: ReportEvaluation = () => undefined,
): Promise<MaybeOutcome[]> => {
  const outcomes: MaybeOutcome[] = expressions.map(() => undefined);
  if (promql === undefined) return outcomes;
  const recordAndReport: ReportEvaluation = (index, evaluation) => {
    outcomes[index] = evaluation;
    report(index, evaluation);
  };
  const members = parseMembers(expressions, window, recordAndReport);
  const { additionalSeries = [] } = promql;
  const scope = { columns, translation: promql.translation };
  const batch: BatchContext = { scope, additionalSeries, window, retainedFromMs: getRetentionStartMs(plan, nowMs) };
  const selectedSeries = await awaitUnlessTooLarge(selectBatchSeries(batch, members));
  if (selectedSeries === undefined) return outcomes;
  for (const roundMembers of planRounds(batch, members, selectedSeries))
    await evaluateMembers(batch, roundMembers, selectedSeries, recordAndReport);
  return outcomes;
};
