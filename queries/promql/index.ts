import { Annotations } from './engine/annotations.ts';
import { defaultOptions, type EngineOptions, SampleCounts } from './engine/context.ts';
import { Evaluator } from './engine/evaluator.ts';
import { planReads, type QueryWindow } from './engine/plan.ts';
import { evaluateResult, type PromqlResult } from './engine/result.ts';
import { addResetHints } from './engine/samples.ts';
import type { Selection, Series } from './series.ts';
import { PromqlExecutionError, PromqlSyntaxError } from './syntax/errors.ts';
import { parseExpression } from './syntax/parse.ts';
import { everySyntax, type SyntaxOptions } from './syntax/reader.ts';
import { type Expression, formatType, getValueType } from './syntax/tree.ts';

/** A parsed and checked expression. */
export interface ParsedQuery {
  readonly text: string;
  readonly expression: Expression;
}

/** Times of a query: an instant query starts and ends at the same time, with step 0. */
export interface Window extends QueryWindow {
  readonly lookbackMs?: number | undefined;
}

/** Limits of a query. */
export interface Limits {
  /** Maximum number of samples held at once. */
  readonly samples: number;
  /** Maximum memory for columns of results; default 400 MB. */
  readonly bytes?: number | undefined;
}

const defaultLimits: Limits = { samples: 50_000_000 };
const defaultBytes = 400e6;

/** Result of a query, with Prometheus' annotations. */
export interface EvaluationResult {
  readonly value: PromqlResult;
  readonly warnings: readonly string[];
  readonly infos: readonly string[];
  readonly samples: { readonly total: number; readonly peak: number; readonly perStep: Float64Array };
}

/** Parses an expression; throws `PromqlSyntaxError` with Prometheus' text and position. */
export const parse = (text: string, options: SyntaxOptions = everySyntax): ParsedQuery => ({
  text,
  expression: parseExpression(text, options),
});

/** Returns why a text is not a valid expression, in Prometheus' words; undefined if it is valid. */
export const findExpressionProblem = (text: string): string | undefined => {
  try {
    parseExpression(text, everySyntax);
    return undefined;
  } catch (error) {
    if (error instanceof PromqlSyntaxError) return error.message;
    throw error;
  }
};

const getLookbackMs = ({ lookbackMs }: Window, options: EngineOptions): number => lookbackMs ?? options.lookbackMs;

/** Returns the selections of an expression, in the order of their numbers for `evaluate`. */
export const listSelections = (
  { expression }: ParsedQuery,
  window: Window,
  options: EngineOptions = defaultOptions,
): readonly Selection[] => planReads(expression, window, getLookbackMs(window, options)).selections;

function* addHints(allSeries: Iterable<Series>): Iterable<Series> {
  for (const series of allSeries) yield addResetHints(series);
}

/**
 * Evaluates an expression. `read` returns the series of a selection by its number, and may be called once for each.
 * Synchronous, and without I/O besides `read`. Throws `PromqlExecutionError` and `PromqlLimitError`.
 */
export const evaluate = (
  { text, expression }: ParsedQuery,
  window: Window,
  read: (selection: number) => Iterable<Series>,
  limits: Limits = defaultLimits,
  options: EngineOptions = defaultOptions,
): EvaluationResult => {
  const { startMs, endMs, stepMs } = window;
  const type = getValueType(expression);
  const isInstant = startMs === endMs && stepMs === 0;
  if (!isInstant && type !== 'vector' && type !== 'scalar')
    throw new PromqlExecutionError(
      `invalid expression type "${formatType(type)}" for range query, must be Scalar or instant Vector`,
    );
  const lookbackMs = getLookbackMs(window, options);
  const plan = planReads(expression, window, lookbackMs);
  const count = isInstant ? 1 : Math.floor((endMs - startMs) / stepMs) + 1;
  const annotations = new Annotations();
  const counts = new SampleCounts(count, limits.samples, limits.bytes ?? defaultBytes);
  const readSelection = (node: Expression): Iterable<Series> => {
    const series = read(plan.selectionNumbers.get(node) as number);
    return plan.countsOnly.has(node) ? addHints(series) : series;
  };
  const evaluator = new Evaluator(
    { startMs, intervalMs: isInstant ? 1 : stepMs, count },
    {
      options: { ...options, lookbackMs },
      annotations,
      counts,
      read: readSelection,
    },
  );
  const value = evaluateResult(evaluator, plan.expression, isInstant);
  const { warnings, infos } = annotations.getTexts(text);
  return { value, warnings, infos, samples: { total: counts.total, peak: counts.peak, perStep: counts.totalByStep } };
};
