/** Queries one panel: its queries, its formulas, and its transformations. */

import type { RequestResults } from '../../../queries/batch/results.ts';
import { createValidationError, QueryError } from '../../../queries/errors.ts';
import { collectNames, parseFormula } from '../../../queries/formula/parse.ts';
import { getMinStepMs } from '../../../queries/min-step.ts';
import type { Query } from '../../../queries/query.ts';
import { returnsRecords } from '../../../queries/query-kind.ts';
import type { Range } from '../../../queries/range.ts';
import type { Result } from '../../../queries/result.ts';
import { parseQuery } from '../../../queries/run.ts';
import { evaluateFormula } from '../../../queries/run-batch.ts';
import { chooseStepForPoints, resolveStepMs } from '../../../queries/steps.ts';
import { parseDuration, parseTime } from '../../../queries/time.ts';
import { transformTables } from '../../../queries/transformations/index.ts';
import { type Table, toResult, toTables } from '../../../queries/transformations/table.ts';
import { addQueryFilters } from '../../../queries/variables/filters.ts';
import { replaceInFormula } from '../../../queries/variables/in-formula.ts';
import { replaceInQuery } from '../../../queries/variables/in-query.ts';
import { replaceInText, replaceInTitle } from '../../../queries/variables/in-text.ts';
import { buildPlatformVariables, type PlatformContext } from '../../../queries/variables/platform.ts';
import type { Scope, VariableValue } from '../../../queries/variables/scope.ts';
import type { ZoneClock } from '../../../runtime/calendar.ts';
import type { Filter } from '../../../schemas/dashboards/variables.ts';
import type { Panel } from '../document.ts';
import type { DashboardQuery, PanelItem, PanelTable, QueryFault } from './dashboard-query.ts';
import type { PanelCopy } from './repeats.ts';

/** Shared context of all panels in a request. */
export interface PanelContext {
  readonly question: Pick<DashboardQuery, 'step' | 'maxPoints'>;
  readonly range: Range;
  /** Time zone of the dashboard; UTC by default. */
  readonly clock?: ZoneClock | undefined;
  readonly results: RequestResults;
  readonly filters: readonly Filter[];
  /** Saved queries by ID, which the caller may read. */
  readonly saved: ReadonlyMap<string, Query>;
  readonly names: PlatformContext['names'];
  /** Reduces a result for display; tables are built from the reduced result too. */
  readonly shownAs?: ((panel: Panel) => (name: string, result: Result) => Result) | undefined;
  /** Returns the error message for users. */
  getFault(error: unknown): Pick<QueryFault, 'code' | 'message'>;
}

type PanelQuery = Panel['queries'][number];

const msNs = 1_000_000n;
const isRateInterval = (minStep = ''): boolean => /^\$(?:__rate_interval|\{__rate_interval\})$/.test(minStep);
/** Returns the factor of a query's step. Steps that are rate intervals are not multiplied. */
const getEffectiveFactor = ({ minStep, stepFactor = 1 }: PanelQuery): number =>
  isRateInterval(minStep) ? 1 : stepFactor;

/** Replaces a missing query. Formulas that read its result fail with the reason. */
const missingQuery: Query = { kind: 'promql', expression: 'missing' };
const parseDurationNs = (text: string | undefined): bigint => (text === undefined ? 0n : (parseDuration(text) ?? 0n));

/** Returns the range of a panel. Its own range ends at the end of the dashboard's. */
const getPanelRange = ({ time }: Panel, { from, to }: Range, clock: ZoneClock | undefined): Range => {
  const shiftNs = parseDurationNs(time.shift);
  const end = to - shiftNs;
  if (time.range === undefined) return { from: from - shiftNs, to: end };
  const start = time.range.startsWith('now')
    ? (parseTime(time.range, Number(end / msNs), { clock }) ?? end)
    : end - parseDurationNs(time.range);
  if (start > end) throw createValidationError('time.range', `${time.range} is after the end of the range`);
  return { from: start, to: end };
};

const chooseStep = (
  { maxDataPoints: panelMaxPoints = Number.POSITIVE_INFINITY }: Panel,
  { step, maxPoints }: PanelContext['question'],
  range: Range,
): number => {
  if (step !== undefined) return resolveStepMs(step, range);
  const limit = Math.min(panelMaxPoints, maxPoints ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(limit) ? chooseStepForPoints(range, limit) : resolveStepMs(undefined, range);
};

const parseMinStepMs = (minStep: string | undefined, scope: Scope, path: string): number => {
  if (minStep === undefined) return 0;
  const text = replaceInText(minStep, scope);
  const ns = parseDuration(text);
  if (ns === undefined || ns < msNs) throw createValidationError(path, `${text} is not a step such as 30s`);
  return Number(ns / msNs);
};

/** Error of a part of a panel, with its path. */
class PartError extends Error {
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super('a part of a panel failed', { cause });
    this.path = path;
  }
}

const runPart = async <Value>(path: string, work: () => Promise<Value>): Promise<Value> => {
  try {
    return await work();
  } catch (error) {
    throw new PartError(path, error);
  }
};

const listFormulaNames = (expression: string): readonly string[] => {
  try {
    return collectNames(parseFormula(expression));
  } catch (error) {
    // The formula itself reports the error.
    if (error instanceof QueryError) return [];
    throw error;
  }
};

/** One run of a panel over one range. A panel with a comparison has a second run. */
class PanelRun {
  readonly #panelCopy: PanelCopy;
  readonly #context: PanelContext;
  readonly #range: Range;
  readonly stepMs: number;

  constructor(panelCopy: PanelCopy, context: PanelContext, range: Range) {
    this.#panelCopy = panelCopy;
    this.#context = context;
    this.#range = range;
    const stepMs = chooseStep(panelCopy.panel, context.question, range);
    this.stepMs = Math.max(stepMs, parseMinStepMs(panelCopy.panel.minStep, this.#buildScope(stepMs, 0), 'minStep'));
  }

  #buildScope(stepMs: number, scrapeIntervalMs: number): Scope {
    const [fromMs, toMs] = [Number(this.#range.from / msNs), Number(this.#range.to / msNs)];
    const platform = {
      fromMs,
      toMs,
      stepMs,
      names: this.#context.names,
      ...(scrapeIntervalMs > 0 && { scrapeIntervalMs }),
    };
    return new Map([...this.#panelCopy.scope, ...buildPlatformVariables(platform)]);
  }

  /**
   * Variables of a query. The rate interval is derived from the step without its factor. If the step itself is the rate
   * interval, the rate interval equals the step.
   */
  #buildQueryScope({ minStep }: PanelQuery, stepMs: number, plainMs: number, scrapeMs: number): Scope {
    const scope = new Map(this.#buildScope(stepMs, scrapeMs));
    const [rates, name] = isRateInterval(minStep)
      ? [scope, '__interval']
      : [this.#buildScope(plainMs, scrapeMs), '__rate_interval'];
    for (const unit of ['', '_ms']) scope.set(`__rate_interval${unit}`, rates.get(`${name}${unit}`) as VariableValue);
    return scope;
  }

  #minStepMs({ name, minStep }: PanelQuery): number {
    return parseMinStepMs(minStep, this.#buildScope(this.stepMs, 0), `queries.${name}.minStep`);
  }

  #findQuery({ query, savedQueryId }: PanelQuery): Query | undefined {
    return query ?? this.#context.saved.get(savedQueryId ?? '');
  }

  async #run(panelQuery: PanelQuery): Promise<Result> {
    const { panel } = this.#panelCopy;
    const { results, filters } = this.#context;
    const query = this.#findQuery(panelQuery);
    if (query === undefined)
      throw createValidationError(
        'savedQueryId',
        `the saved query ${panelQuery.savedQueryId} does not exist, is not accessible to you, or is invalid`,
      );
    const queryMinStepMs = this.#minStepMs(panelQuery);
    // A formula needs the same steps in all queries, so the longest one applies to all.
    const alignedQueries = panel.formulas.length > 0 ? panel.queries : [panelQuery];
    const stepLengths = alignedQueries.map((alignedQuery) => Math.max(this.stepMs, this.#minStepMs(alignedQuery)));
    const multipliedSteps = alignedQueries.map(
      (alignedQuery, at) => (stepLengths[at] as number) * getEffectiveFactor(alignedQuery),
    );
    const multipleMs = Math.max(
      ...alignedQueries.map((alignedQuery) => getMinStepMs(this.#findQuery(alignedQuery) ?? query)),
    );
    const [plainMs = 0, stepMs = 0] = [stepLengths, multipliedSteps].map(
      (each) => Math.ceil(Math.max(...each) / multipleMs) * multipleMs,
    );
    const resolvedQuery = parseQuery(
      addQueryFilters(
        replaceInQuery(query, this.#buildQueryScope(panelQuery, stepMs, plainMs, queryMinStepMs)),
        filters,
      ),
    );
    const isTable = panelQuery.answers === 'table' || returnsRecords(resolvedQuery);
    return results.getResult(resolvedQuery, { range: this.#range, ...(isTable ? {} : { stepMs }) });
  }

  /**
   * Returns the results of the needed queries and formulas by name. Hidden ones are only for formulas and
   * transformations.
   */
  runQueries(): Map<string, Promise<Result>> {
    const { queries, formulas, transformations } = this.#panelCopy.panel;
    const formulaInputs = new Set(formulas.flatMap(({ expression }) => listFormulaNames(expression)));
    const activeQueries = queries.filter(
      ({ hidden, name }) => !hidden || transformations.length > 0 || formulaInputs.has(name),
    );
    const results = new Map(
      activeQueries.map((query) => [query.name, runPart(`queries.${query.name}`, () => this.#run(query))]),
    );
    const queryResults = new Map(results);
    // Copies, because formulas identify queries by object, and two names may use the same saved query.
    const parts = Object.fromEntries(
      queries.map((query) => [query.name, { ...(this.#findQuery(query) ?? missingQuery) }]),
    );
    const scope = this.#buildScope(this.stepMs, 0);
    for (const { name, expression } of formulas)
      results.set(
        name,
        runPart(`formulas.${name}`, async () =>
          evaluateFormula(
            replaceInFormula(expression, scope),
            parts,
            (part) => queryResults.get(part) as Promise<Result>,
          ),
        ),
      );
    return results;
  }
}

interface SettledResults {
  readonly resultsByName: ReadonlyMap<string, Result>;
  readonly errors: readonly unknown[];
}

const settleResults = async (
  results: ReadonlyMap<string, Promise<Result>>,
  reduceResult: (name: string, result: Result) => Result = (_name, result) => result,
): Promise<SettledResults> => {
  const resultsByName = new Map<string, Result>();
  const errors: unknown[] = [];
  const outcomes = await Promise.allSettled(results.values());
  for (const [index, name] of [...results.keys()].entries()) {
    const outcome = outcomes[index] as PromiseSettledResult<Result>;
    if (outcome.status === 'fulfilled') resultsByName.set(name, reduceResult(name, outcome.value));
    else errors.push(outcome.reason);
  }
  return { resultsByName, errors };
};

const toPanelTable = (table: Table): PanelTable => {
  const { columns, rows } = toResult(table);
  return {
    query: table.query,
    name: table.name,
    rows,
    columns: columns.map((column, at) => {
      const labels = table.columns[at]?.labels;
      return { ...column, ...(labels && { labels: { ...labels } }) };
    }),
  };
};

/** Returns the tables of the transformations, in query order. */
const buildTables = (
  { panel: { transformations, visual, queries, formulas }, scope }: PanelCopy,
  { shownAs }: Pick<PanelContext, 'shownAs'>,
  resultsByName: SettledResults['resultsByName'],
): Pick<PanelItem, 'table' | 'tables'> => {
  const isOnlyResult = resultsByName.size === 1;
  // Reduced results have their names already; values of variables would disclose more.
  const legends = new Map(
    shownAs === undefined
      ? [...queries, ...formulas].map(({ name, legend }) => [name, replaceInTitle(legend, scope)])
      : [],
  );
  const tables = transformTables(
    [...resultsByName].flatMap(([name, result]) =>
      toTables(name, result, { isOnlyQuery: isOnlyResult, legend: legends.get(name) ?? '' }),
    ),
    transformations,
  ).map(toPanelTable);
  const frame = visual.kind === 'table' ? visual.frame : 0;
  return { table: tables[frame] ?? tables[0] ?? null, tables: tables.length > 1 ? tables : [] };
};

/** Returns the error of the innermost failed part. */
const findFault = (error: unknown, { getFault: toFault }: PanelContext): QueryFault => {
  let [path, cause] = ['', error];
  while (cause instanceof PartError) {
    path = cause.path;
    cause = cause.cause;
  }
  return { ...toFault(cause), path };
};

const isEmpty = ({ queries, formulas }: Panel): boolean => queries.length + formulas.length === 0;

const selectVisibleResults = (
  { queries, formulas }: Panel,
  resultsByName: SettledResults['resultsByName'],
): Record<string, Result> => {
  const hidden = new Set([...queries, ...formulas].flatMap((each) => (each.hidden ? [each.name] : [])));
  return Object.fromEntries([...resultsByName].filter(([name]) => !hidden.has(name)));
};

/** Returns the result of a panel. Never rejects: the result contains the error. */
export const queryPanel = async (panelCopy: PanelCopy, context: PanelContext): Promise<PanelItem> => {
  const { panel, repeat, scope, partial } = panelCopy;
  const item = {
    panelId: panel.id,
    repeat,
    partial: [...partial],
    title: replaceInTitle(panel.title, scope),
    stepMs: 0,
    results: {},
    earlier: {},
    table: null,
    tables: [],
    error: null,
  };
  try {
    const range = getPanelRange(panel, context.range, context.clock);
    const run = new PanelRun(panelCopy, context, range);
    if (isEmpty(panel)) return { ...item, stepMs: run.stepMs };
    const offsetNs = parseDurationNs(panel.time.compareWith);
    const earlierRange = { from: range.from - offsetNs, to: range.to - offsetNs };
    const [currentResults, earlierResults] = await Promise.all([
      settleResults(run.runQueries(), context.shownAs?.(panel)),
      offsetNs === 0n
        ? undefined
        : settleResults(new PanelRun(panelCopy, context, earlierRange).runQueries(), context.shownAs?.(panel)),
    ]);
    const [failure] = [...currentResults.errors, ...(earlierResults?.errors ?? [])];
    const completedItem = {
      ...item,
      stepMs: run.stepMs,
      results: selectVisibleResults(panel, currentResults.resultsByName),
      earlier: earlierResults === undefined ? {} : selectVisibleResults(panel, earlierResults.resultsByName),
      error: failure === undefined ? null : findFault(failure, context),
    };
    if (panel.transformations.every(({ off }) => off)) return completedItem;
    try {
      return { ...completedItem, ...buildTables(panelCopy, context, currentResults.resultsByName) };
    } catch (error) {
      return {
        ...completedItem,
        error: completedItem.error ?? findFault(new PartError('transformations', error), context),
      };
    }
  } catch (error) {
    return { ...item, error: findFault(error, context) };
  }
};
