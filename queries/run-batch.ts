/**
 * Runs several named queries, and formulas over them, over one range. Each query runs once, even if several formulas
 * reference it.
 */
import { QueryError } from './errors.ts';
import { runFormula } from './formula/formula.ts';
import type { QueryReader } from './promql/query-reader.ts';
import type { FormulaQuery, MetricQuery, PromqlQuery, Query } from './query.ts';
import type { RunContext } from './query-kind.ts';
import type { Result } from './result.ts';
import { run } from './run.ts';

export interface BatchQueries {
  readonly queries: Readonly<Record<string, MetricQuery | PromqlQuery>>;
  /** Formulas over the queries. */
  readonly formulas: Readonly<Record<string, string>>;
}

/**
 * Returns a result for each name. An invalid query rejects all; the path of the error begins with `queries.<name>` or
 * `formulas.<name>`.
 */
export const runBatch = async (
  { queries, formulas }: BatchQueries,
  reader: QueryReader,
  { signal, ...options }: RunContext,
): Promise<Record<string, Result>> => {
  const failureController = new AbortController();
  const endSignal =
    signal === undefined ? failureController.signal : AbortSignal.any([signal, failureController.signal]);
  const runNamed = async (name: string, query: MetricQuery | PromqlQuery): Promise<readonly [string, Result]> => {
    try {
      return [name, await run(query, reader, { ...options, signal: endSignal })];
    } catch (error) {
      failureController.abort(error);
      throw prefixErrorPath(error, `queries.${name}`);
    }
  };
  const queryResults = await Promise.all(Object.entries(queries).map(([name, query]) => runNamed(name, query)));
  const results = new Map(queryResults);
  const formulaResults = await Promise.all(
    Object.entries(formulas).map(async ([name, expression]): Promise<readonly [string, Result]> => {
      try {
        return [name, await evaluateFormula(expression, queries, async (part) => results.get(part) as Result)];
      } catch (error) {
        throw prefixErrorPath(error, `formulas.${name}`);
      }
    }),
  );
  return Object.fromEntries([...queryResults, ...formulaResults]);
};

/** Evaluates a formula over named queries, none of which runs again for it. */
export const evaluateFormula = async (
  expression: string,
  queries: Readonly<Record<string, Query>>,
  getResult: (name: string) => Promise<Result>,
): Promise<Result> => {
  const names = new Map(Object.entries(queries).map(([name, query]) => [query, name]));
  const usedResults: Result[] = [];
  // The type excludes formulas as parts, but a formula can also read the values of another formula.
  const parts = queries as FormulaQuery['queries'];
  const formulaData = await runFormula({ kind: 'formula', expression, queries: parts }, async (part) => {
    const result = await getResult(names.get(part) as string);
    usedResults.push(result);
    return result;
  });
  return toFormulaResult(formulaData, usedResults);
};

/**
 * Returns the result of a formula: its result, the total cost of its parts, and the freshness of the least fresh part.
 */
const toFormulaResult = (formulaData: Awaited<ReturnType<typeof runFormula>>, parts: readonly Result[]): Result => {
  const [first] = parts;
  if (first === undefined) throw new Error('a formula names at least one query');
  const sum = (readCost: (cost: Result['cost']) => number): number =>
    parts.reduce((total, { cost }) => total + readCost(cost), 0);
  return {
    from: first.from,
    to: first.to,
    stepMs: first.stepMs,
    ...formulaData,
    cost: {
      rowsRead: sum(({ rowsRead }) => rowsRead),
      bytesRead: sum(({ bytesRead }) => bytesRead),
      elapsedMs: Math.max(...parts.map(({ cost }) => cost.elapsedMs)),
      isCached: parts.every(({ cost }) => cost.isCached),
    },
    freshness: parts
      .map(({ freshness }) => freshness)
      .reduce((earliest, other) => {
        if (!('landedUpTo' in earliest) || !('landedUpTo' in other)) return 'landedUpTo' in earliest ? other : earliest;
        return earliest.landedUpTo < other.landedUpTo ? earliest : other;
      }),
  };
};

/** Adds the name of a query to the path of an error, except for the range and the step, which apply to all queries. */
const prefixErrorPath = (error: unknown, path: string): unknown =>
  error instanceof QueryError && !['from', 'to', 'step'].includes(error.path ?? '')
    ? new QueryError(error.code, `${path}: ${error.message}`, error.path === undefined ? path : `${path}.${error.path}`)
    : error;
