/** Queries one panel: its queries, its formulas, and its transformations. */

import type { RequestResults } from '../../../queries/batch/results.ts';
import { invalid, QueryError } from '../../../queries/errors.ts';
import { collectNames, parseFormula } from '../../../queries/formula/parse.ts';
import { getMinStepMs } from '../../../queries/min-step.ts';
import type { Query } from '../../../queries/query.ts';
import { returnsRecords } from '../../../queries/query-kind.ts';
import type { Range } from '../../../queries/range.ts';
import type { Result } from '../../../queries/result.ts';
import { parseQuery } from '../../../queries/run.ts';
import { evaluateFormula } from '../../../queries/run-batch.ts';
import { resolveStepMs, roundStepForPoints } from '../../../queries/steps.ts';
import { parseDuration } from '../../../queries/time.ts';
import { transformTables } from '../../../queries/transformations/index.ts';
import { type Table, toAnswer, toTables } from '../../../queries/transformations/table.ts';
import { addQueryFilters } from '../../../queries/variables/filters.ts';
import { replaceInFormula } from '../../../queries/variables/in-formula.ts';
import { replaceInQuery } from '../../../queries/variables/in-query.ts';
import { replaceInText, replaceInTitle } from '../../../queries/variables/in-text.ts';
import { buildPlatformVariables, type PlatformContext } from '../../../queries/variables/platform.ts';
import type { Scope, VariableValue } from '../../../queries/variables/scope.ts';
import type { Filter } from '../../../schemas/dashboards/variables.ts';
import type { Panel } from '../document.ts';
import type { DashboardQuery, PanelItem, PanelTable, QueryFault } from './question.ts';
import type { PanelCopy } from './repeats.ts';

/** Shared context of all panels in a request. */
export interface PanelContext {
  readonly question: Pick<DashboardQuery, 'step' | 'maxPoints'>;
  readonly range: Range;
  readonly results: RequestResults;
  readonly filters: readonly Filter[];
  /** Saved queries by ID, which the caller may read. */
  readonly saved: ReadonlyMap<string, Query>;
  readonly names: PlatformContext['names'];
  /** Reduces a result for display; tables are built from the reduced result too. */
  readonly shownAs?: ((panel: Panel) => (name: string, result: Result) => Result) | undefined;
  /** Returns the error message for users. */
  faultOf(error: unknown): Pick<QueryFault, 'code' | 'message'>;
}

type PanelQuery = Panel['queries'][number];

const msNs = 1_000_000n;
const isRateInterval = (minStep = ''): boolean => /^\$(?:__rate_interval|\{__rate_interval\})$/.test(minStep);
/** Returns the factor of a query's step. Steps that are rate intervals are not multiplied. */
const effectiveFactor = ({ minStep, stepFactor = 1 }: PanelQuery): number => (isRateInterval(minStep) ? 1 : stepFactor);

/** Replaces a missing query. Formulas that read its result fail with the reason. */
const missing: Query = { kind: 'promql', expression: 'missing' };
const durationNs = (text: string | undefined): bigint => (text === undefined ? 0n : (parseDuration(text) ?? 0n));

const panelRange = ({ time }: Panel, { from, to }: Range): Range => {
  const end = to - durationNs(time.shift);
  return { from: time.range === undefined ? from - durationNs(time.shift) : end - durationNs(time.range), to: end };
};

const chooseStep = (
  { maxDataPoints: panelMaxPoints = Number.POSITIVE_INFINITY }: Panel,
  { step, maxPoints }: PanelContext['question'],
  range: Range,
): number => {
  if (step !== undefined) return resolveStepMs(step, range);
  const limit = Math.min(panelMaxPoints, maxPoints ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(limit) ? roundStepForPoints(range, limit) : resolveStepMs(undefined, range);
};

const minStepMs = (minStep: string | undefined, scope: Scope, path: string): number => {
  if (minStep === undefined) return 0;
  const text = replaceInText(minStep, scope);
  const ns = parseDuration(text);
  if (ns === undefined || ns < msNs) throw invalid(path, `${text} is not a step such as 30s`);
  return Number(ns / msNs);
};

/** Error of a part, with its path */
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

const formulaNames = (expression: string): readonly string[] => {
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

  constructor(shown: PanelCopy, context: PanelContext, range: Range) {
    this.#panelCopy = shown;
    this.#context = context;
    this.#range = range;
    const stepMs = chooseStep(shown.panel, context.question, range);
    this.stepMs = Math.max(stepMs, minStepMs(shown.panel.minStep, this.#scope(stepMs, 0), 'minStep'));
  }

  #scope(stepMs: number, scrapeIntervalMs: number): Scope {
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
  #scopeOf({ minStep }: PanelQuery, stepMs: number, plainMs: number, scrapeMs: number): Scope {
    const scope = new Map(this.#scope(stepMs, scrapeMs));
    const [rates, name] = isRateInterval(minStep)
      ? [scope, '__interval']
      : [this.#scope(plainMs, scrapeMs), '__rate_interval'];
    for (const unit of ['', '_ms']) scope.set(`__rate_interval${unit}`, rates.get(`${name}${unit}`) as VariableValue);
    return scope;
  }

  #minStepMs({ name, minStep }: PanelQuery): number {
    return minStepMs(minStep, this.#scope(this.stepMs, 0), `queries.${name}.minStep`);
  }

  #queryOf({ query, savedQueryId }: PanelQuery): Query | undefined {
    return query ?? this.#context.saved.get(savedQueryId ?? '');
  }

  async #run(panelQuery: PanelQuery): Promise<Result> {
    const { panel } = this.#panelCopy;
    const { results, filters } = this.#context;
    const query = this.#queryOf(panelQuery);
    if (query === undefined)
      throw invalid(
        'savedQueryId',
        `the saved query ${panelQuery.savedQueryId} does not exist, is not accessible to you, or is invalid`,
      );
    const ownMs = this.#minStepMs(panelQuery);
    // A formula needs the same steps in all queries, so the longest one applies to all.
    const alignedQueries = panel.formulas.length > 0 ? panel.queries : [panelQuery];
    const lengths = alignedQueries.map((each) => Math.max(this.stepMs, this.#minStepMs(each)));
    const factored = alignedQueries.map((each, at) => (lengths[at] as number) * effectiveFactor(each));
    const multipleMs = Math.max(...alignedQueries.map((each) => getMinStepMs(this.#queryOf(each) ?? query)));
    const [plainMs = 0, stepMs = 0] = [lengths, factored].map(
      (each) => Math.ceil(Math.max(...each) / multipleMs) * multipleMs,
    );
    const filled = parseQuery(
      addQueryFilters(replaceInQuery(query, this.#scopeOf(panelQuery, stepMs, plainMs, ownMs)), filters),
    );
    const isTable = panelQuery.answers === 'table' || returnsRecords(filled);
    return results.getResult(filled, { range: this.#range, ...(isTable ? {} : { stepMs }) });
  }

  /**
   * Returns the results of the needed queries and formulas by name. Hidden ones are only for formulas and
   * transformations.
   */
  answers(): Map<string, Promise<Result>> {
    const { queries, formulas, transformations } = this.#panelCopy.panel;
    const named = new Set(formulas.flatMap(({ expression }) => formulaNames(expression)));
    const activeQueries = queries.filter(
      ({ hidden, name }) => !hidden || transformations.length > 0 || named.has(name),
    );
    const answers = new Map(
      activeQueries.map((query) => [query.name, runPart(`queries.${query.name}`, () => this.#run(query))]),
    );
    const own = new Map(answers);
    // Copies, because formulas identify queries by object, and two names may use the same saved query.
    const parts = Object.fromEntries(queries.map((query) => [query.name, { ...(this.#queryOf(query) ?? missing) }]));
    const scope = this.#scope(this.stepMs, 0);
    for (const { name, expression } of formulas)
      answers.set(
        name,
        runPart(`formulas.${name}`, async () =>
          evaluateFormula(replaceInFormula(expression, scope), parts, (part) => own.get(part) as Promise<Result>),
        ),
      );
    return answers;
  }
}

interface Settled {
  readonly found: ReadonlyMap<string, Result>;
  readonly errors: readonly unknown[];
}

const settleAnswers = async (
  answers: ReadonlyMap<string, Promise<Result>>,
  shownAs: (name: string, result: Result) => Result = (_name, result) => result,
): Promise<Settled> => {
  const found = new Map<string, Result>();
  const errors: unknown[] = [];
  const all = await Promise.allSettled(answers.values());
  for (const [index, name] of [...answers.keys()].entries()) {
    const one = all[index] as PromiseSettledResult<Result>;
    if (one.status === 'fulfilled') found.set(name, shownAs(name, one.value));
    else errors.push(one.reason);
  }
  return { found, errors };
};

const shownTable = (table: Table): PanelTable => {
  const { columns, rows } = toAnswer(table);
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
  { transformations, visual }: Panel,
  found: Settled['found'],
): Pick<PanelItem, 'table' | 'tables'> => {
  const isOnly = found.size === 1;
  const tables = transformTables(
    [...found].flatMap(([name, result]) => toTables(name, result, { isOnly })),
    transformations,
  ).map(shownTable);
  const frame = visual.kind === 'table' ? visual.frame : 0;
  return { table: tables[frame] ?? tables[0] ?? null, tables: tables.length > 1 ? tables : [] };
};

/** Returns the error of the innermost failed part. */
const findFault = (error: unknown, { faultOf }: PanelContext): QueryFault => {
  let [path, cause] = ['', error];
  while (cause instanceof PartError) {
    path = cause.path;
    cause = cause.cause;
  }
  return { ...faultOf(cause), path };
};

const isEmpty = ({ queries, formulas }: Panel): boolean => queries.length + formulas.length === 0;

const visibleResults = ({ queries, formulas }: Panel, found: Settled['found']): Record<string, Result> => {
  const hidden = new Set([...queries, ...formulas].flatMap((each) => (each.hidden ? [each.name] : [])));
  return Object.fromEntries([...found].filter(([name]) => !hidden.has(name)));
};

/** Returns the result of a panel. Never rejects: the result contains the error. */
export const queryPanel = async (shown: PanelCopy, context: PanelContext): Promise<PanelItem> => {
  const { panel, repeat, scope, partial } = shown;
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
    const range = panelRange(panel, context.range);
    const run = new PanelRun(shown, context, range);
    if (isEmpty(panel)) return { ...item, stepMs: run.stepMs };
    const offsetNs = durationNs(panel.time.compareWith);
    const before = { from: range.from - offsetNs, to: range.to - offsetNs };
    const [now, then] = await Promise.all([
      settleAnswers(run.answers(), context.shownAs?.(panel)),
      offsetNs === 0n
        ? undefined
        : settleAnswers(new PanelRun(shown, context, before).answers(), context.shownAs?.(panel)),
    ]);
    const [failure] = [...now.errors, ...(then?.errors ?? [])];
    const answered = {
      ...item,
      stepMs: run.stepMs,
      results: visibleResults(panel, now.found),
      earlier: then === undefined ? {} : visibleResults(panel, then.found),
      error: failure === undefined ? null : findFault(failure, context),
    };
    if (panel.transformations.every(({ off }) => off)) return answered;
    try {
      return { ...answered, ...buildTables(panel, now.found) };
    } catch (error) {
      return { ...answered, error: answered.error ?? findFault(new PartError('transformations', error), context) };
    }
  } catch (error) {
    return { ...item, error: findFault(error, context) };
  }
};
