import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { z } from 'zod';
import { createValidationError } from '../../../queries/errors.ts';
import type { Forecast } from '../../../queries/forecast/forecast.ts';
import { computeMedianStepMs, forecastPoints } from '../../../queries/forecast/points.ts';
import { computeCrossing, type Threshold } from '../../../queries/forecast/threshold-crossing.ts';
import { parseDuration } from '../../../queries/time.ts';
import { DurationText } from '../../../queries/time-parameters.ts';
import { defineOperation } from '../../kernel/operation.ts';
import {
  maxPoints,
  type NamedSeries,
  PartialResults,
  readRequestedSeries,
  seriesIdentityFields,
  seriesRequestFields,
} from './requested-series.ts';

const maxSteps = 1000;
/** Maximum number of series per request; each forecast takes up to 30 ms of CPU time. */
const maxForecasts = 100;

const Until = z.union([z.strictObject({ above: z.number() }), z.strictObject({ below: z.number() })]);
const Crossing = z.strictObject({
  at: z.string().nullable().describe('Time with a crossing probability of 50 %; null: see the reason'),
  low: z
    .string()
    .nullable()
    .describe('Time with a crossing probability of 5 %, also without `at`; null: beyond the horizon'),
  high: z.string().nullable().describe('Time with a crossing probability of 95 %; null: beyond the horizon'),
  probability: z.number().nullable().describe('Probability of crossing within the horizon'),
  reason: z.string().nullable(),
});

export const forecastSeries = defineOperation({
  method: 'POST',
  path: '/api/ai/forecast',
  operationId: 'forecastSeries',
  summary: 'Forecast series with intervals, and when they cross a limit',
  role: 'viewer',
  auditExemption: 'read-only',
  maxBodyBytes: 5 * 1024 * 1024,
  maxElements: maxPoints,
  body: z.strictObject({
    ...seriesRequestFields,
    horizon: z
      .union([z.int().min(1).max(maxSteps), DurationText])
      .default(48)
      .describe(`Horizon: a number of steps, or a duration such as 4d; at most ${maxSteps} steps`),
    levels: z
      .array(z.number().gt(0).lt(1))
      .min(1)
      .max(8)
      .default([0.8, 0.95])
      .describe('Levels of the intervals: the share of values that each should contain'),
    kind: z
      .enum(['any', 'count', 'share'])
      .optional()
      .describe(
        'Possible values: counts are never below 0, shares always between 0 and 1; by default derived from the series',
      ),
    until: Until.optional().describe('Also report when this limit is crossed'),
  }),
  response: z.strictObject({
    series: z.array(
      z.strictObject({
        ...seriesIdentityFields,
        stepMs: z.number().nullable(),
        points: z
          .array(z.tuple([z.number(), z.number(), z.array(z.tuple([z.number(), z.number()]))]))
          .describe('Epoch milliseconds, value, and the interval of each level; empty: see the reason'),
        reason: z.string().nullable().describe('Why there is no forecast; null if there is a forecast'),
        until: Crossing.nullable().describe('null if not requested'),
      }),
    ),
    partial: PartialResults,
  }),
  async handler({ caller, body, signal }, ports) {
    const seriesRequest = await readRequestedSeries(body, { caller, ports, signal });
    if (seriesRequest.series.length > maxForecasts)
      throw createValidationError(
        body.query === undefined ? 'series' : 'query',
        `returns ${seriesRequest.series.length} series: at most ${maxForecasts} can be forecast in one request`,
      );
    const series = [];
    for (const requestedSeries of seriesRequest.series) {
      series.push(
        toForecastView(requestedSeries, seriesRequest.stepMs ?? computeMedianStepMs(requestedSeries.points), body),
      );
      await yieldToEventLoop();
      signal.throwIfAborted();
    }
    return { series, partial: seriesRequest.partial };
  },
});

interface ForecastOptions {
  readonly horizon: number | string;
  readonly levels: readonly number[];
  readonly kind?: 'any' | 'count' | 'share' | undefined;
  readonly until?: Threshold | undefined;
}

const countSteps = (horizon: number | string, stepMs: number): number => {
  if (typeof horizon === 'number') return horizon;
  const steps = Math.ceil(Number((parseDuration(horizon) ?? 0n) / 1_000_000n) / (stepMs || 1));
  if (stepMs === 0) return 1;
  if (steps < 1 || steps > maxSteps)
    throw createValidationError(
      'horizon',
      `is ${steps} steps of ${stepMs / 1000} seconds: from 1 to ${maxSteps} can be forecast`,
    );
  return steps;
};

const toForecastView = ({ name, labels, unit, points }: NamedSeries, stepMs: number, options: ForecastOptions) => {
  const horizon = countSteps(options.horizon, stepMs);
  const namedSeriesFields = { name, labels: { ...labels }, unit };
  const forecastResult = forecastPoints(points, { horizon, stepMs, kind: options.kind });
  if (typeof forecastResult === 'string') {
    const until = { at: null, low: null, high: null, probability: null, reason: forecastResult };
    return {
      ...namedSeriesFields,
      stepMs: stepMs || null,
      points: [],
      reason: forecastResult,
      until: options.until === undefined ? null : until,
    };
  }
  const { forecast, firstAtMs } = forecastResult;
  const intervals = options.levels.map((level) => forecast.intervals(level));
  const rows = forecast.values.map((value, stepIndex): [number, number, [number, number][]] => [
    firstAtMs + stepIndex * stepMs,
    value,
    intervals.map((interval) => [interval[stepIndex]?.[0] ?? value, interval[stepIndex]?.[1] ?? value]),
  ]);
  const toCrossingTime = (steps: number | null): string | null =>
    steps === null ? null : new Date(firstAtMs + (steps - 1) * stepMs).toISOString();
  return {
    ...namedSeriesFields,
    stepMs,
    points: rows,
    reason: null,
    until: toCrossing(forecast, options.until, toCrossingTime),
  };
};

const toCrossing = (
  forecast: Forecast,
  limit: Threshold | undefined,
  toTime: (steps: number | null) => string | null,
): z.output<typeof Crossing> | null => {
  if (limit === undefined) return null;
  const { steps, low, high, probability, reason } = computeCrossing(forecast, limit);
  return { at: toTime(steps), low: toTime(low), high: toTime(high), probability, reason };
};
