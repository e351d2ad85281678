/**
 * Runs queries of kind `anomaly`: the series that are anomalous at the end of a range, or actual and expected values by
 * step.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  buildStepsContext,
  clearLeadingZeros,
  getRetentionStartMs,
  type StepRange,
  toValuesByStep,
} from '../../../queries/complete-steps.ts';
import { requireReadAccess } from '../../../queries/entitlement.ts';
import { createValidationError } from '../../../queries/errors.ts';
import type { MeasuringQuery } from '../../../queries/query.ts';
import type { RunPartQuery } from '../../../queries/query-kind.ts';
import type { QueryContext, ResultData } from '../../../queries/query-result.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { parseDuration } from '../../../queries/time.ts';
import type { AnomalyQuery } from '../query.ts';
import { type BandPoint, downsample, readDetectorBands, type SeriesBand, toBandSeries } from './bands.ts';
import { readDetectorStatus } from './detector-status.ts';
import { scoreSeries } from './scorer.ts';
import { toSeriesStatus } from './series-status.ts';
import { toStatusTable } from './status-table.ts';

/**
 * Minimum number of steps of history. The history begins at a multiple of `anchor` steps, so that consecutive
 * evaluations begin at the same step.
 */
const historySteps = { minSteps: 1500, anchor: 500 };
/** Maximum number of points in all series. Each takes about 25 µs of CPU time. */
const maxPoints = 50_000;

interface ScoringRequest {
  readonly query: MeasuringQuery;
  readonly anomaly: AnomalyQuery;
  readonly reader: TenantReader;
  readonly runPartQuery: RunPartQuery;
}

/** Returns the series of a query before `toMs`, from `fromMs` at the latest on. */
const readSeries = async ({ query, anomaly, reader, runPartQuery }: ScoringRequest, toMs: number, fromMs: number) => {
  const stepMs = Number(parseDuration(anomaly.step ?? '1m') ?? 0n) / 1_000_000;
  const endMs = Math.floor(toMs / stepMs) * stepMs;
  const anchorMs = historySteps.anchor * stepMs;
  const anchoredMs = Math.floor(endMs / anchorMs) * anchorMs - historySteps.minSteps * stepMs;
  const targetMs = Math.min(anchoredMs, Math.floor(fromMs / stepMs) * stepMs);
  const earliestMs = Math.ceil(getRetentionStartMs(query, reader) / stepMs) * stepMs;
  const steps = { fromMs: Math.min(Math.max(targetMs, earliestMs), endMs - stepMs), toMs: endMs, stepMs };
  const { series, partial } = await runPartQuery(query, buildStepsContext(query, steps));
  const points = (series.length * (endMs - steps.fromMs)) / stepMs;
  if (points > maxPoints)
    throw createValidationError(
      'query',
      `gives ${series.length} series of ${points / series.length} steps: at most ${maxPoints} points are scored at once, create a detector instead`,
    );
  const falseAlarmsPerWeek = (anomaly.falseAlarmsPerWeek ?? 1) / Math.max(1, series.length);
  const seriesSteps = series.map(({ name, labels, unit, points: seriesPoints }) => ({
    labels,
    name,
    unit,
    ...steps,
    values: clearLeadingZeros(query, toValuesByStep(query, seriesPoints, steps)),
  }));
  return { series: seriesSteps, partial, falseAlarmsPerWeek };
};

const scoreStatus = async (scoring: ScoringRequest, toMs: number): Promise<ResultData> => {
  const { series, partial, falseAlarmsPerWeek } = await readSeries(scoring, toMs, toMs);
  const statuses = [];
  for (const one of series) {
    statuses.push(toSeriesStatus(one, falseAlarmsPerWeek));
    await yieldToEventLoop();
  }
  return toStatusTable(statuses, scoring.anomaly.direction, partial);
};

const scoreBands = async (scoring: ScoringRequest, { fromMs, toMs, stepMs }: StepRange): Promise<ResultData> => {
  const { series, partial, falseAlarmsPerWeek } = await readSeries(scoring, toMs, fromMs);
  const bands: SeriesBand[] = [];
  for (const { name, unit, labels, fromMs: beginMs, stepMs: seriesStepMs, values } of series) {
    const points = values.map((value, index) => [beginMs + index * seriesStepMs, value] as const);
    const { scored } = scoreSeries(points, { falseAlarmsPerWeek });
    const bandPoints = points.flatMap(([timeMs, value], index): BandPoint[] => {
      const { expected = null, high = null, low = null } = scored[index] ?? {};
      return timeMs < fromMs || value === null ? [] : [[timeMs, value, expected, high, low]];
    });
    bands.push({ name, unit, labels, points: downsample(bandPoints, Math.max(stepMs, seriesStepMs)) });
    await yieldToEventLoop();
  }
  return toBandSeries(bands, partial);
};

/**
 * Runs an anomaly query. Without a step, the result is a table with a row per series; for a detector, it contains only
 * series that are anomalous or were within a day. With a step, the result consists of values, expected values and
 * bounds.
 */
export const runAnomaly = async (
  anomaly: AnomalyQuery,
  reader: TenantReader,
  { range, stepMs }: QueryContext,
  runPartQuery: RunPartQuery,
): Promise<ResultData> => {
  requireReadAccess(reader, 'ai');
  const toMs = Number((range.to + 1n) / 1_000_000n);
  const steps = stepMs === undefined ? undefined : { fromMs: Number(range.from / 1_000_000n), toMs, stepMs };
  const { query, detectorId = '', direction } = anomaly;
  if (query !== undefined) {
    const scoring = { query, anomaly, reader, runPartQuery };
    return steps === undefined ? scoreStatus(scoring, toMs) : scoreBands(scoring, steps);
  }
  return steps === undefined
    ? toStatusTable(await readDetectorStatus(detectorId, reader, toMs), direction)
    : readDetectorBands(detectorId, reader, steps);
};
