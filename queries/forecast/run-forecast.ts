/** Runs queries of kind `forecast`: the probability that values cross a limit within a horizon. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Answer, type QueryContext, tableAnswer } from '../answer.ts';
import { buildStepsContext, retentionStartMs, sinceFirst, stepValues } from '../complete-steps.ts';
import { requireEntitlement } from '../entitlement.ts';
import { invalid } from '../errors.ts';
import { digits } from '../figures.ts';
import type { ForecastQuery } from '../query.ts';
import type { RunPart } from '../query-kind.ts';
import type { Reading } from '../reading.ts';
import type { TableColumn } from '../result.ts';
import { parseDuration } from '../time.ts';
import { crossing, type Limit } from './crossing.ts';
import { forecastPoints } from './points.ts';

/** Maximum number of forecasts; each takes up to 30 CPU-ms. */
const maxForecasts = 100;
const maxSteps = { history: 4000, horizon: 1000 };
/** Number of last steps without a value after which a series has no forecast. */
const silentSteps = 3;

const text = (name: string): TableColumn => ({ name, type: 'text', unit: '' });
const figures = (unit: string): readonly TableColumn[] => [
  { name: 'probability', type: 'number', unit: '1' },
  { name: 'value', type: 'number', unit },
  ...['at', 'low', 'high'].map((name): TableColumn => ({ name, type: 'time', unit: '' })),
  ...['state', 'says'].map(text),
];

/** Number of columns in a row that are not labels. */
export const forecastFigures = figures('').length;

const msOf = (duration: string): number => Number(parseDuration(duration) ?? 0n) / 1_000_000;

/** Returns why a query is invalid for any data, with the field at fault. */
export const forecastProblem = ({
  step,
  history,
  horizon,
}: ForecastQuery): [path: string, message: string] | undefined => {
  const steps = (duration: string): number => Math.ceil(msOf(duration) / msOf(step));
  if (steps(history) > maxSteps.history)
    return ['history', `is ${steps(history)} steps of ${step}: at most ${maxSteps.history} are used`];
  if (steps(horizon) > maxSteps.horizon)
    return ['horizon', `is ${steps(horizon)} steps of ${step}: at most ${maxSteps.horizon} can be forecast`];
  return undefined;
};

const percent = (share: number): string => `${Number((share * 100).toFixed(share > 0.99 ? 1 : 0))} %`;
const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

interface Foreseen {
  readonly probability: number | null;
  readonly at: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly message: string;
}

const unknown = (message: string): Foreseen => ({ probability: null, at: null, low: null, high: null, message });

interface CrossingRequest {
  readonly fromMs: number;
  readonly stepMs: number;
  readonly horizon: number;
  readonly within: string;
  readonly until: Limit;
  readonly unit: string;
}

/** Returns the crossing of a series. A series beyond the limit has probability 1. */
export const crossingOf = (values: readonly (number | null)[], request: CrossingRequest): Foreseen => {
  const { fromMs, stepMs, horizon, until, within } = request;
  const unit = request.unit === '' ? '' : ` ${request.unit}`;
  const [side, limit] = 'above' in until ? ['above', until.above] : ['below', until.below];
  const last = values.findLastIndex((value) => value !== null);
  const value = values[last] ?? null;
  if (value === null || last < values.length - silentSteps)
    return unknown(`it has no value in its last ${silentSteps} steps`);
  const now = `${digits(value)}${unit}`;
  if (side === 'above' ? value > limit : value < limit)
    return {
      probability: 1,
      at: fromMs + last * stepMs,
      low: null,
      high: null,
      message: `${now} is ${side} ${limit}${unit} already`,
    };
  const found = forecastPoints(
    values.map((each, index) => [fromMs + index * stepMs, each] as const),
    { horizon, stepMs },
  );
  if (typeof found === 'string') return unknown(`there is no forecast: ${found}`);
  const { steps, low, high, probability } = crossing(found.forecast, until);
  const ms = (step: number | null): number | null => (step === null ? null : found.firstMs + (step - 1) * stepMs);
  const likely = `${side} ${limit}${unit} within ${within} with a probability of ${percent(probability)}; now ${now}`;
  const when = timeOf(ms(steps));
  const between = `, between ${timeOf(ms(low)) ?? ''} and ${timeOf(ms(high)) ?? 'later'}`;
  return {
    probability,
    at: ms(steps),
    low: ms(low),
    high: ms(high),
    message: when === null ? likely : `${likely}, expected to cross it at ${when}${between}`,
  };
};

/** Returns a table with a row for each series, most probable crossings first. */
export const runForecast = async (
  query: ForecastQuery,
  reading: Reading,
  { range, stepMs: requestedStepMs }: QueryContext,
  runPart: RunPart,
): Promise<Answer> => {
  requireEntitlement(reading, 'ai');
  if (requestedStepMs !== undefined)
    throw invalid('step', 'is not supported for forecasts of a limit, which have a step of their own');
  const problem = forecastProblem(query);
  if (problem !== undefined) throw invalid(...problem);
  const stepMs = msOf(query.step);
  const endMs = Math.floor(Number((range.to + 1n) / 1_000_000n) / stepMs) * stepMs;
  const requestedFromMs = endMs - Math.ceil(msOf(query.history) / stepMs) * stepMs;
  const retainedFromMs = Math.ceil(retentionStartMs(query.query, reading) / stepMs) * stepMs;
  const steps = { fromMs: Math.min(Math.max(requestedFromMs, retainedFromMs), endMs - stepMs), toMs: endMs, stepMs };
  const { series, partial } = await runPart(query.query, buildStepsContext(query.query, steps));
  if (series.length > maxForecasts)
    throw invalid('query', `gives ${series.length} series: at most ${maxForecasts} are forecast at once`);
  const horizon = Math.ceil(msOf(query.horizon) / stepMs);
  const names = [...new Set(series.flatMap(({ labels }) => Object.keys(labels)))].toSorted();
  const measures = new Set(series.map(({ name }) => name)).size > 1 ? ['measure'] : [];
  const rows: [probability: number, row: unknown[]][] = [];
  for (const { name, labels, unit, points } of series) {
    const values = sinceFirst(query.query, stepValues(query.query, points, steps));
    const { probability, at, low, high, message } = crossingOf(values, {
      ...steps,
      horizon,
      unit,
      within: query.horizon,
      until: query.until,
    });
    const state = probability === null ? 'unknown' : percent(probability);
    const value = values.findLast((each) => each !== null) ?? null;
    const own = [...names.map((label) => labels[label] ?? ''), ...measures.map(() => name)];
    const row = [...own, probability, value, timeOf(at), timeOf(low), timeOf(high), state, message];
    rows.push([probability ?? -1, row]);
    await yieldToEventLoop();
  }
  const sorted = rows.toSorted(([one], [other]) => other - one).map(([, row]) => row);
  return tableAnswer([...[...names, ...measures].map(text), ...figures(series[0]?.unit ?? '')], sorted, partial);
};
