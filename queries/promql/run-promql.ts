/** Runs PromQL as a kind of `Query`. */

import { createValidationError, QueryError } from '../errors.ts';
import type { PromqlQuery } from '../query.ts';
import { buildSeriesResult, buildTableResult, type QueryContext, type ResultData } from '../query-result.ts';
import type { Incompleteness } from '../result.ts';
import { PromqlError } from './errors.ts';
import type { EvaluationWindow } from './evaluation/messages.ts';
import { getRetentionStartMs } from './fetch/scope.ts';
import { fromNative } from './histograms/histogram.ts';
import { formatHistogram } from './histograms/text.ts';
import type { EvaluationResult } from './index.ts';
import type { QueryReader } from './query-reader.ts';
import type { NativeHistogram } from './series.ts';
import { createStepsWriter } from './steps-cache.ts';
import { PromqlExecutionError, PromqlSyntaxError } from './syntax/errors.ts';

/** Maximum number of steps of one query, as in Prometheus. */
export const maxSteps = 11_000;
/** Prometheus' default lookback of a sample. */
export const defaultLookbackMs = 300_000;

const nsToMs = (nanoseconds: bigint): number => Number(nanoseconds / 1_000_000n);

const toPointValue = (value: number | NativeHistogram): number | string => {
  if (typeof value !== 'number') return formatHistogram(fromNative(value));
  return Number.isFinite(value) ? value : String(value);
};

const getSeriesName = (labels: Readonly<Record<string, string>>, { expression }: PromqlQuery): string =>
  labels['__name__'] ?? expression;

/**
 * Returns the evaluation window of a query. Steps are at multiples of the step length within the range, or, with
 * `stepsFrom: 'range'`, counted from the start of the range. A range without such a multiple has one step, at its end.
 */
export const buildPromqlWindow = ({ range: { from, to }, stepMs, stepsFrom }: QueryContext): EvaluationWindow => {
  const endMs = nsToMs(to);
  if (stepMs === undefined) return { startMs: endMs, endMs, stepMs: 0, lookbackMs: defaultLookbackMs };
  const startMs = stepsFrom === 'range' ? nsToMs(from) : Math.ceil(nsToMs(from) / stepMs) * stepMs;
  return { startMs: Math.min(startMs, endMs), endMs, stepMs, lookbackMs: defaultLookbackMs };
};

/**
 * Runs a PromQL query: with a step, as a range query that returns series; without one, as a table at the end of the
 * range. Warnings and infos equal those of Prometheus.
 */
export const runPromql = async (
  query: PromqlQuery,
  reader: QueryReader,
  { range, stepMs, stepsFrom, signal }: QueryContext & { readonly signal?: AbortSignal | undefined },
): Promise<ResultData> => {
  const window = buildPromqlWindow({ range, stepMs, stepsFrom });
  if (stepMs !== undefined && (window.endMs - window.startMs) / stepMs > maxSteps)
    throw createValidationError('step', `gives more than ${maxSteps} steps: use a longer step`);
  return buildPromqlResult(query, await evaluatePromql(query.expression, reader, window, signal), { stepMs });
};

/** Evaluates an expression. Throws a `QueryError` if it is invalid. */
export const evaluatePromql = async (
  expression: string,
  { columns, promql, plan, nowMs }: QueryReader,
  window: EvaluationWindow,
  signal?: AbortSignal,
): Promise<EvaluationResult> => {
  if (promql === undefined) throw createValidationError('query.kind', 'PromQL is not evaluated here');
  const scope = { columns, translation: promql.translation };
  const storeSteps = createStepsWriter({ scope, expression, window });
  try {
    const evaluation = await promql.threads.evaluate({
      expression,
      window,
      scope,
      signal,
      additionalSeries: promql.additionalSeries,
      retainedFromMs: getRetentionStartMs(plan, nowMs),
    });
    storeSteps(evaluation);
    return evaluation;
  } catch (error) {
    throw toQueryError(error);
  }
};

/** Converts an evaluation to the common result format. */
export const buildPromqlResult = (
  query: PromqlQuery,
  evaluation: EvaluationResult,
  { stepMs }: Pick<QueryContext, 'stepMs'>,
): ResultData => (stepMs === undefined ? buildTable(evaluation) : buildSeries(query, evaluation));

/** Converts an error of a query to a `QueryError`; returns any other error unchanged. */
export const toQueryError = (error: unknown): unknown => {
  if (error instanceof PromqlSyntaxError) return createValidationError('query.expression', error.message);
  const isPromqlProblem = error instanceof PromqlError || error instanceof PromqlExecutionError;
  if (!isPromqlProblem) return error;
  const isBusy = error instanceof PromqlError && error.type === 'too_many_requests';
  return new QueryError(isBusy ? 'RATE_LIMITED' : 'VALIDATION_FAILED', error.message, 'query.expression');
};

const toIncompleteness = ({ warnings }: EvaluationResult): Incompleteness[] =>
  warnings.map((message) => ({ code: 'dropped' as const, message }));

const buildSeries = (query: PromqlQuery, evaluation: EvaluationResult): ResultData => {
  const { value } = evaluation;
  if (value.type !== 'matrix') return buildSeriesResult([], [], toIncompleteness(evaluation));
  const series = value.series.map(({ labels, times, values, histogramTimes, histograms }) => {
    const points: [number, number | string][] = [
      ...Array.from(times, (time, at): [number, number | string] => [time, toPointValue(values[at] as number)]),
      ...histograms.map((histogram, at): [number, number | string] => [
        histogramTimes[at] as number,
        toPointValue(histogram),
      ]),
    ];
    points.sort(([left], [right]) => left - right);
    return { name: getSeriesName(labels, query), labels, unit: '', points };
  });
  return buildSeriesResult(series, [], toIncompleteness(evaluation));
};

const buildTable = (evaluation: EvaluationResult): ResultData => {
  const { value } = evaluation;
  if (value.type === 'matrix')
    throw createValidationError(
      'query.expression',
      'returns a range of each series: a table has one value per series, use a function over the range',
    );
  const isText = value.type === 'string';
  const elements =
    value.type === 'vector'
      ? value.elements.map((element) => ({ labels: element.labels, value: toPointValue(element.value) }))
      : [{ labels: {}, value: isText ? value.value : toPointValue(value.value) }];
  const names = [...new Set(elements.flatMap(({ labels }) => Object.keys(labels)))].sort();
  return buildTableResult(
    [
      ...names.map((name) => ({ name, type: 'text' as const, unit: '' })),
      { name: 'value', type: isText ? 'text' : 'number', unit: '' },
    ],
    elements.map(({ labels, value: elementValue }) => [
      ...names.map((name) => (labels as Record<string, string>)[name] ?? ''),
      elementValue,
    ]),
    toIncompleteness(evaluation),
  );
};
