import { answerJson } from '../../../queries/promql/answer-json.ts';
import { PromqlError } from '../../../queries/promql/errors.ts';
import type { EvaluationWindow } from '../../../queries/promql/evaluation/messages.ts';
import { retentionStartMs } from '../../../queries/promql/fetch/scope.ts';
import type { Evaluated } from '../../../queries/promql/index.ts';
import { defaultLookbackMs, maxSteps } from '../../../queries/promql/run-promql.ts';
import { PromqlSyntaxError } from '../../../queries/promql/syntax/errors.ts';
import { parseExpression } from '../../../queries/promql/syntax/parse.ts';
import { documentedType, typeOf } from '../../../queries/promql/syntax/tree.ts';
import { type Answered, byGetAndPost } from './answer.ts';
import {
  durationIn,
  durationOf,
  type Given,
  invalid,
  limited,
  limitOf,
  parameter,
  shared,
  textOf,
  timeOf,
  withExpression,
} from './parameters.ts';
import { scopeOf } from './scope.ts';

const parameters = {
  query: parameter('An expression'),
  timeout: parameter('Maximum duration of the evaluation, such as 30s'),
  lookback_delta: parameter('Maximum age of a sample, by default 5m'),
  stats: parameter('all: with statistics, and samples of each step'),
  ...limited,
  ...shared,
};

/** Shorter than the time limit of every request */
const maxTimeoutMs = 40_000;

const lookbackOf = (given: Given): number => {
  const text = textOf(given, 'lookback_delta');
  if (text === '') return defaultLookbackMs;
  const lookback = durationIn(text);
  if (typeof lookback !== 'number')
    throw new PromqlError('bad_data', `error parsing lookback delta duration: ${lookback.problem}`);
  return lookback > 0 ? lookback : defaultLookbackMs;
};

const timeoutOf = (given: Given): number => {
  if (textOf(given, 'timeout') === '') return maxTimeoutMs;
  const timeoutMs = durationOf(given, 'timeout');
  if (timeoutMs <= 0) throw invalid('query', 'context deadline exceeded');
  return Math.min(maxTimeoutMs, timeoutMs);
};

type PrometheusRequest = Parameters<Parameters<typeof byGetAndPost>[0]['answer']>[0];
type Ports = Parameters<Parameters<typeof byGetAndPost>[0]['answer']>[1];

const timedOut = (): PromqlError => new PromqlError('timeout', 'query timed out in expression evaluation');

/** Evaluates an expression, and attributes expression errors to the parameter. */
const evaluated = async (request: PrometheusRequest, window: EvaluationWindow, ports: Ports): Promise<Evaluated> => {
  const { given, caller } = request;
  const timeout = AbortSignal.timeout(Math.ceil(timeoutOf(given)));
  try {
    return await ports.promql.threads.evaluate({
      expression: textOf(given, 'query'),
      window,
      scope: scopeOf(request, ports),
      retainedFromMs: retentionStartMs(caller.plan, ports.clock.now()),
      signal: AbortSignal.any([request.signal, timeout]),
    });
  } catch (error) {
    if (error instanceof PromqlSyntaxError)
      throw new PromqlError('bad_data', `invalid parameter "query": ${error.message}`);
    if (timeout.aborted) throw timedOut();
    throw error;
  }
};

const statsOf = (
  { samples }: Evaluated,
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

/** Prometheus' own wording */
const statsWarnings = (kind: string): string[] =>
  ['', 'all', 'true'].includes(kind)
    ? []
    : [
        `value ${JSON.stringify(kind)} for parameter "stats" is deprecated and will be rejected in the next major release, use "true" or "all"`,
      ];

const answer = async (request: PrometheusRequest, window: EvaluationWindow, ports: Ports): Promise<Answered> => {
  const limit = limitOf(request.given);
  const kind = textOf(request.given, 'stats');
  const started = performance.now();
  const found = await evaluated(request, window, ports);
  const seconds = (performance.now() - started) / 1000;
  const { data, isCut } = answerJson(found.value, limit);
  return {
    data: { ...data, ...(kind !== '' && { stats: statsOf(found, window, { kind, seconds }) }) },
    warnings: [...found.warnings, ...(isCut ? ['results truncated due to limit'] : []), ...statsWarnings(kind)],
    infos: found.infos,
  };
};

export const queryInstant = byGetAndPost({
  path: 'query',
  operationId: 'queryPrometheus',
  summary: 'Evaluate an expression at a single time',
  parameters: { ...parameters, time: parameter('RFC 3339 or seconds since the epoch; by default now') },
  answer(request, ports) {
    const timeMs = timeOf(request.given, 'time', ports.clock.now());
    return answer(request, { startMs: timeMs, endMs: timeMs, stepMs: 0, lookbackMs: lookbackOf(request.given) }, ports);
  },
});

export const queryRange = byGetAndPost({
  path: 'query_range',
  operationId: 'queryPrometheusRange',
  summary: 'Evaluate an expression over a time range',
  parameters: {
    ...parameters,
    start: parameter('First step: RFC 3339 or seconds since the epoch'),
    end: parameter('End of the range, inclusive'),
    step: parameter('A duration or seconds'),
  },
  answer(request, ports) {
    const { given } = request;
    const startMs = timeOf(given, 'start');
    const endMs = timeOf(given, 'end');
    if (endMs < startMs) throw invalid('end', 'end timestamp must not be before start time');
    const stepMs = durationOf(given, 'step');
    if (stepMs <= 0)
      throw invalid('step', 'zero or negative query resolution step widths are not accepted. Try a positive integer');
    if ((endMs - startMs) / stepMs > maxSteps)
      throw new PromqlError(
        'bad_data',
        'exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)',
      );
    withExpression(given, requireRange);
    return answer(request, { startMs, endMs, stepMs, lookbackMs: lookbackOf(given) }, ports);
  },
});

/** Rejects expressions that have no value at each step. */
const requireRange = (text: string): void => {
  const type = typeOf(parseExpression(text));
  if (type !== 'vector' && type !== 'scalar')
    throw invalid(
      'query',
      `invalid expression type "${documentedType(type)}" for range query, must be Scalar or instant Vector`,
    );
};
