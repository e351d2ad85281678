/** Runs queries of kind `forecast`: the probability that values cross a limit within a horizon. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { buildStepsContext, clearLeadingZeros, getRetentionStartMs, toValuesByStep } from '../complete-steps.ts';
import { requireReadAccess } from '../entitlement.ts';
import { createValidationError } from '../errors.ts';
import type { ForecastQuery } from '../query.ts';
import type { RunPartQuery } from '../query-kind.ts';
import { buildTableResult, type QueryContext, type ResultData } from '../query-result.ts';
import type { TableColumn } from '../result.ts';
import { formatShort } from '../round-numbers.ts';
import type { TenantReader } from '../tenant-reader.ts';
import { parseDuration } from '../time.ts';
import { forecastPoints } from './points.ts';
import { computeCrossing, type Threshold } from './threshold-crossing.ts';

/** Maximum number of forecasts; each takes up to 30 CPU-ms. */
const maxForecasts = 100;
const maxSteps = { history: 4000, horizon: 1000 };
/** Number of last steps without a value after which a series has no forecast. */
const maxEmptySteps = 3;

const createTextColumn = (name: string): TableColumn => ({ name, type: 'text', unit: '' });
const createResultColumns = (unit: string): readonly TableColumn[] => [
  { name: 'probability', type: 'number', unit: '1' },
  { name: 'value', type: 'number', unit },
  ...['at', 'low', 'high'].map((name): TableColumn => ({ name, type: 'time', unit: '' })),
  ...['state', 'says'].map(createTextColumn),
];

/** Number of columns in a row that are not labels. */
export const forecastColumnCount = createResultColumns('').length;

const parseMs = (duration: string): number => Number(parseDuration(duration) ?? 0n) / 1_000_000;

/** Returns the invalid field of a query and why it is invalid, regardless of the data; `undefined` if it is valid. */
export const findForecastProblem = ({
  step,
  history,
  horizon,
}: ForecastQuery): [path: string, message: string] | undefined => {
  const countSteps = (duration: string): number => Math.ceil(parseMs(duration) / parseMs(step));
  if (countSteps(history) > maxSteps.history)
    return ['history', `is ${countSteps(history)} steps of ${step}: at most ${maxSteps.history} are used`];
  if (countSteps(horizon) > maxSteps.horizon)
    return ['horizon', `is ${countSteps(horizon)} steps of ${step}: at most ${maxSteps.horizon} can be forecast`];
  return undefined;
};

const formatPercent = (share: number): string => `${Number((share * 100).toFixed(share > 0.99 ? 1 : 0))} %`;
const formatNullableTime = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

interface PredictedCrossing {
  readonly probability: number | null;
  readonly atMs: number | null;
  readonly lowMs: number | null;
  readonly highMs: number | null;
  readonly message: string;
}

const createUnknownCrossing = (message: string): PredictedCrossing => ({
  probability: null,
  atMs: null,
  lowMs: null,
  highMs: null,
  message,
});

interface CrossingRequest {
  readonly fromMs: number;
  readonly stepMs: number;
  readonly horizon: number;
  readonly horizonText: string;
  readonly threshold: Threshold;
  readonly unit: string;
}

/** Predicts when a series crosses the limit. A series that is already beyond it has probability 1. */
export const predictCrossing = (values: readonly (number | null)[], request: CrossingRequest): PredictedCrossing => {
  const { fromMs, stepMs, horizon, threshold, horizonText } = request;
  const unit = request.unit === '' ? '' : ` ${request.unit}`;
  const [side, limit] = 'above' in threshold ? ['above', threshold.above] : ['below', threshold.below];
  const last = values.findLastIndex((value) => value !== null);
  const value = values[last] ?? null;
  if (value === null || last < values.length - maxEmptySteps)
    return createUnknownCrossing(`it has no value in its last ${maxEmptySteps} steps`);
  const currentValue = `${formatShort(value)}${unit}`;
  if (side === 'above' ? value > limit : value < limit)
    return {
      probability: 1,
      atMs: fromMs + last * stepMs,
      lowMs: null,
      highMs: null,
      message: `${currentValue} is ${side} ${limit}${unit} already`,
    };
  const forecastResult = forecastPoints(
    values.map((stepValue, index) => [fromMs + index * stepMs, stepValue] as const),
    { horizon, stepMs },
  );
  if (typeof forecastResult === 'string') return createUnknownCrossing(`there is no forecast: ${forecastResult}`);
  const { steps, low, high, probability } = computeCrossing(forecastResult.forecast, threshold);
  const stepToMs = (step: number | null): number | null =>
    step === null ? null : forecastResult.firstAtMs + (step - 1) * stepMs;
  const forecastText = `${side} ${limit}${unit} within ${horizonText} with a probability of ${formatPercent(probability)}; now ${currentValue}`;
  const expectedTime = formatNullableTime(stepToMs(steps));
  const intervalText = `, between ${formatNullableTime(stepToMs(low)) ?? ''} and ${formatNullableTime(stepToMs(high)) ?? 'later'}`;
  return {
    probability,
    atMs: stepToMs(steps),
    lowMs: stepToMs(low),
    highMs: stepToMs(high),
    message:
      expectedTime === null ? forecastText : `${forecastText}, expected to cross it at ${expectedTime}${intervalText}`,
  };
};

/** Returns a table with a row for each series, most probable crossings first. */
export const runForecast = async (
  query: ForecastQuery,
  reader: TenantReader,
  { range, stepMs: requestedStepMs }: QueryContext,
  runPart: RunPartQuery,
): Promise<ResultData> => {
  requireReadAccess(reader, 'ai');
  if (requestedStepMs !== undefined)
    throw createValidationError('step', 'is not supported for forecasts of a limit, which have a step of their own');
  const problem = findForecastProblem(query);
  if (problem !== undefined) throw createValidationError(...problem);
  const stepMs = parseMs(query.step);
  const endMs = Math.floor(Number((range.to + 1n) / 1_000_000n) / stepMs) * stepMs;
  const requestedFromMs = endMs - Math.ceil(parseMs(query.history) / stepMs) * stepMs;
  const retainedFromMs = Math.ceil(getRetentionStartMs(query.query, reader) / stepMs) * stepMs;
  const steps = { fromMs: Math.min(Math.max(requestedFromMs, retainedFromMs), endMs - stepMs), toMs: endMs, stepMs };
  const { series, partial } = await runPart(query.query, buildStepsContext(query.query, steps));
  if (series.length > maxForecasts)
    throw createValidationError('query', `gives ${series.length} series: at most ${maxForecasts} are forecast at once`);
  const horizon = Math.ceil(parseMs(query.horizon) / stepMs);
  const names = [...new Set(series.flatMap(({ labels }) => Object.keys(labels)))].toSorted();
  const measures = new Set(series.map(({ name }) => name)).size > 1 ? ['measure'] : [];
  const rows: [probability: number, row: unknown[]][] = [];
  for (const { name, labels, unit, points } of series) {
    const values = clearLeadingZeros(query.query, toValuesByStep(query.query, points, steps));
    const { probability, atMs, lowMs, highMs, message } = predictCrossing(values, {
      ...steps,
      horizon,
      unit,
      horizonText: query.horizon,
      threshold: query.until,
    });
    const state = probability === null ? 'unknown' : formatPercent(probability);
    const value = values.findLast((value) => value !== null) ?? null;
    const labelValues = [...names.map((label) => labels[label] ?? ''), ...measures.map(() => name)];
    const row = [
      ...labelValues,
      probability,
      value,
      formatNullableTime(atMs),
      formatNullableTime(lowMs),
      formatNullableTime(highMs),
      state,
      message,
    ];
    rows.push([probability ?? -1, row]);
    await yieldToEventLoop();
  }
  const sorted = rows.toSorted(([first], [other]) => other - first).map(([, row]) => row);
  return buildTableResult(
    [...[...names, ...measures].map(createTextColumn), ...createResultColumns(series[0]?.unit ?? '')],
    sorted,
    partial,
  );
};
