import { PromqlError } from '../../../queries/promql/errors.ts';
import type { EvaluationWindow } from '../../../queries/promql/evaluation/messages.ts';
import { getRetentionStartMs } from '../../../queries/promql/fetch/scope.ts';
import type { EvaluationResult } from '../../../queries/promql/index.ts';
import { toResultJson } from '../../../queries/promql/result-json.ts';
import { defaultLookbackMs, maxSteps } from '../../../queries/promql/run-promql.ts';
import { PromqlSyntaxError } from '../../../queries/promql/syntax/errors.ts';
import { parseExpression } from '../../../queries/promql/syntax/parse.ts';
import { formatType, getValueType } from '../../../queries/promql/syntax/tree.ts';
import { findRangeProblem } from '../../../queries/range.ts';
import { defineGetAndPostOperations, type PrometheusResult } from './define-operation.ts';
import {
  createParameterError,
  createParameterSchema,
  getDurationMs,
  getLimit,
  getText,
  getTimeMs,
  limitParameters,
  type PrometheusParameters,
  parseDurationText,
  projectParameters,
  withExpression,
} from './parameters.ts';
import { createScope } from './scope.ts';

const queryParameters = {
  query: createParameterSchema('An expression'),
  timeout: createParameterSchema('Maximum duration of the evaluation, such as 30s'),
  lookback_delta: createParameterSchema('Maximum age of a sample, by default 5m'),
  stats: createParameterSchema('all: with statistics, and samples of each step'),
  ...limitParameters,
  ...projectParameters,
};

/** Shorter than the time limit of every request */
const maxTimeoutMs = 40_000;

const parseLookback = (given: PrometheusParameters): number => {
  const text = getText(given, 'lookback_delta');
  if (text === '') return defaultLookbackMs;
  const lookback = parseDurationText(text);
  if (typeof lookback !== 'number')
    throw new PromqlError('bad_data', `error parsing lookback delta duration: ${lookback.problem}`);
  return lookback > 0 ? lookback : defaultLookbackMs;
};

const parseTimeout = (given: PrometheusParameters): number => {
  if (getText(given, 'timeout') === '') return maxTimeoutMs;
  const timeoutMs = getDurationMs(given, 'timeout');
  if (timeoutMs <= 0) throw createParameterError('query', 'context deadline exceeded');
  return Math.min(maxTimeoutMs, timeoutMs);
};

type PrometheusRequest = Parameters<Parameters<typeof defineGetAndPostOperations>[0]['run']>[0];
type Ports = Parameters<Parameters<typeof defineGetAndPostOperations>[0]['run']>[1];

const createTimeoutError = (): PromqlError => new PromqlError('timeout', 'query timed out in expression evaluation');

/** Evaluates an expression, and attributes expression errors to the parameter. */
const evaluateExpression = async (
  request: PrometheusRequest,
  window: EvaluationWindow,
  ports: Ports,
): Promise<EvaluationResult> => {
  const { parameterValues, caller } = request;
  const timeout = AbortSignal.timeout(Math.ceil(parseTimeout(parameterValues)));
  try {
    return await ports.promql.threads.evaluate({
      expression: getText(parameterValues, 'query'),
      window,
      scope: createScope(request, ports),
      retainedFromMs: getRetentionStartMs(caller.plan, ports.clock.now()),
      signal: AbortSignal.any([request.signal, timeout]),
    });
  } catch (error) {
    if (error instanceof PromqlSyntaxError)
      throw new PromqlError('bad_data', `invalid parameter "query": ${error.message}`);
    if (timeout.aborted) throw createTimeoutError();
    throw error;
  }
};

const toQueryStats = (
  { samples }: EvaluationResult,
  { startMs, stepMs }: EvaluationWindow,
  { kind, seconds }: { readonly kind: string; readonly seconds: number },
) => ({
  timings: {
    evalTotalTime: seconds,
    resultSortTime: 0,
    queryPreparationTime: 0,
    innerEvalTime: seconds,
    execQueueTime: 0,
    execTotalTime: seconds,
  },
  samples: {
    ...(kind === 'all' && {
      totalQueryableSamplesPerStep: Array.from(samples.perStep, (count, step) => [
        (startMs + step * stepMs) / 1000,
        count,
      ]),
    }),
    totalQueryableSamples: samples.total,
    peakSamples: samples.peak,
  },
});

/** Warns about a deprecated value of `stats`, in the wording of Prometheus. */
const getStatsWarnings = (kind: string): string[] =>
  ['', 'all', 'true'].includes(kind)
    ? []
    : [
        `value ${JSON.stringify(kind)} for parameter "stats" is deprecated and will be rejected in the next major release, use "true" or "all"`,
      ];

/** Warns about a window that begins before the retention of the organization's plan. */
const getRetentionWarnings = (
  { caller }: Pick<PrometheusRequest, 'caller'>,
  { startMs }: Pick<EvaluationWindow, 'startMs'>,
  nowMs: number,
): string[] => {
  const from = BigInt(Math.round(startMs)) * 1_000_000n;
  return [findRangeProblem({ from }, { caller, signal: 'metrics', nowMs }) ?? []].flat();
};

const runQuery = async (
  request: PrometheusRequest,
  window: EvaluationWindow,
  ports: Ports,
): Promise<PrometheusResult> => {
  const limit = getLimit(request.parameterValues);
  const statsMode = getText(request.parameterValues, 'stats');
  const startedMs = performance.now();
  const evaluation = await evaluateExpression(request, window, ports);
  const seconds = (performance.now() - startedMs) / 1000;
  const { data, hasOmittedSeries } = toResultJson(evaluation.value, limit);
  return {
    data: {
      ...data,
      ...(statsMode !== '' && { stats: toQueryStats(evaluation, window, { kind: statsMode, seconds }) }),
    },
    warnings: [
      ...evaluation.warnings,
      ...(hasOmittedSeries ? ['results truncated due to limit'] : []),
      ...getStatsWarnings(statsMode),
      ...getRetentionWarnings(request, window, ports.clock.now()),
    ],
    infos: evaluation.infos,
  };
};

export const queryInstant = defineGetAndPostOperations({
  path: 'query',
  operationId: 'queryPrometheus',
  summary: 'Evaluate an expression at a single time',
  parameters: {
    ...queryParameters,
    time: createParameterSchema('RFC 3339 or seconds since the epoch; by default now'),
  },
  run(request, ports) {
    const timeMs = getTimeMs(request.parameterValues, 'time', ports.clock.now());
    return runQuery(
      request,
      { startMs: timeMs, endMs: timeMs, stepMs: 0, lookbackMs: parseLookback(request.parameterValues) },
      ports,
    );
  },
});

export const queryRange = defineGetAndPostOperations({
  path: 'query_range',
  operationId: 'queryPrometheusRange',
  summary: 'Evaluate an expression over a time range',
  parameters: {
    ...queryParameters,
    start: createParameterSchema('First step: RFC 3339 or seconds since the epoch'),
    end: createParameterSchema('End of the range, inclusive'),
    step: createParameterSchema('A duration or seconds'),
  },
  run(request, ports) {
    const { parameterValues } = request;
    const startMs = getTimeMs(parameterValues, 'start');
    const endMs = getTimeMs(parameterValues, 'end');
    if (endMs < startMs) throw createParameterError('end', 'end timestamp must not be before start time');
    const stepMs = getDurationMs(parameterValues, 'step');
    if (stepMs <= 0)
      throw createParameterError(
        'step',
        'zero or negative query resolution step widths are not accepted. Try a positive integer',
      );
    if ((endMs - startMs) / stepMs > maxSteps)
      throw new PromqlError(
        'bad_data',
        'exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)',
      );
    withExpression(parameterValues, requireRangeExpression);
    return runQuery(request, { startMs, endMs, stepMs, lookbackMs: parseLookback(parameterValues) }, ports);
  },
});

/** Throws unless the expression is a scalar or an instant vector, which have a value at each step. */
const requireRangeExpression = (text: string): void => {
  const type = getValueType(parseExpression(text));
  if (type !== 'vector' && type !== 'scalar')
    throw createParameterError(
      'query',
      `invalid expression type "${formatType(type)}" for range query, must be Scalar or instant Vector`,
    );
};
