/**
 * Runs queries of kind `anomaly`: the series that are anomalous at the end of a range, or actual and expected values by
 * step.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Answer, QueryContext } from '../../../queries/answer.ts';
import {
  buildStepsContext,
  retentionStartMs,
  type Steps,
  sinceFirst,
  stepValues,
} from '../../../queries/complete-steps.ts';
import { requireEntitlement } from '../../../queries/entitlement.ts';
import { invalid } from '../../../queries/errors.ts';
import type { AnomalyQuery, MeasuringQuery } from '../../../queries/query.ts';
import type { RunPart } from '../../../queries/query-kind.ts';
import type { Reading } from '../../../queries/reading.ts';
import { parseDuration } from '../../../queries/time.ts';
import { type Banded, type BandPoint, bandsAnswer, detectorBands, thinned } from './bands.ts';
import { readDetectorStatus } from './detector-status.ts';
import { scoreSeries } from './scorer.ts';
import { toSeriesStatus } from './series-status.ts';
import { toStatusTable } from './status-table.ts';

/**
 * Number of steps of history. They begin at multiples of `anchor`, so that consecutive evaluations begin at the same
 * step.
 */
const lookback = { minSteps: 1500, anchor: 500 };
/** Maximum number of points in all series: each takes about 25 CPU-µs. */
const maxPoints = 50_000;

interface Scoring {
  readonly query: MeasuringQuery;
  readonly anomaly: AnomalyQuery;
  readonly reading: Reading;
  readonly queryPart: RunPart;
}

/** Returns the series of a query before `toMs`, from `fromMs` at the latest on. */
const seriesOf = async ({ query, anomaly, reading, queryPart }: Scoring, toMs: number, fromMs: number) => {
  const stepMs = Number(parseDuration(anomaly.step ?? '1m') ?? 0n) / 1_000_000;
  const endMs = Math.floor(toMs / stepMs) * stepMs;
  const anchorMs = lookback.anchor * stepMs;
  const anchoredMs = Math.floor(endMs / anchorMs) * anchorMs - lookback.minSteps * stepMs;
  const targetMs = Math.min(anchoredMs, Math.floor(fromMs / stepMs) * stepMs);
  const earliestMs = Math.ceil(retentionStartMs(query, reading) / stepMs) * stepMs;
  const steps = { fromMs: Math.min(Math.max(targetMs, earliestMs), endMs - stepMs), toMs: endMs, stepMs };
  const { series, partial } = await queryPart(query, buildStepsContext(query, steps));
  const points = (series.length * (endMs - steps.fromMs)) / stepMs;
  if (points > maxPoints)
    throw invalid(
      'query',
      `gives ${series.length} series of ${points / series.length} steps: at most ${maxPoints} points are scored at once, create a detector instead`,
    );
  const falseAlarmsPerWeek = (anomaly.falseAlarmsPerWeek ?? 1) / Math.max(1, series.length);
  const known = series.map(({ name, labels, unit, points: own }) => ({
    labels,
    name,
    unit,
    ...steps,
    values: sinceFirst(query, stepValues(query, own, steps)),
  }));
  return { series: known, partial, falseAlarmsPerWeek };
};

const statusOfQuery = async (scoring: Scoring, toMs: number): Promise<Answer> => {
  const { series, partial, falseAlarmsPerWeek } = await seriesOf(scoring, toMs, toMs);
  const statuses = [];
  for (const one of series) {
    statuses.push(toSeriesStatus(one, falseAlarmsPerWeek));
    await yieldToEventLoop();
  }
  return toStatusTable(statuses, scoring.anomaly.direction, partial);
};

const bandsOfQuery = async (scoring: Scoring, { fromMs, toMs, stepMs }: Steps): Promise<Answer> => {
  const { series, partial, falseAlarmsPerWeek } = await seriesOf(scoring, toMs, fromMs);
  const banded: Banded[] = [];
  for (const { name, unit, labels, fromMs: beginMs, stepMs: ownMs, values } of series) {
    const points = values.map((value, index) => [beginMs + index * ownMs, value] as const);
    const { scored } = scoreSeries(points, { falseAlarmsPerWeek });
    const shown = points.flatMap(([timeMs, value], index): BandPoint[] => {
      const { expected = null, high = null, low = null } = scored[index] ?? {};
      return timeMs < fromMs || value === null ? [] : [[timeMs, value, expected, high, low]];
    });
    banded.push({ name, unit, labels, points: thinned(shown, Math.max(stepMs, ownMs)) });
    await yieldToEventLoop();
  }
  return bandsAnswer(banded, partial);
};

/**
 * Runs an anomaly query. Without a step the result is a table with a row per series; for a detector, only series that
 * are or were anomalous within a day. With one series: values, expected values and bounds.
 */
export const runAnomaly = async (
  anomaly: AnomalyQuery,
  reading: Reading,
  { range, stepMs }: QueryContext,
  queryPart: RunPart,
): Promise<Answer> => {
  requireEntitlement(reading, 'ai');
  const toMs = Number((range.to + 1n) / 1_000_000n);
  const steps = stepMs === undefined ? undefined : { fromMs: Number(range.from / 1_000_000n), toMs, stepMs };
  const { query, detectorId = '', direction } = anomaly;
  if (query !== undefined) {
    const scoring = { query, anomaly, reading, queryPart };
    return steps === undefined ? statusOfQuery(scoring, toMs) : bandsOfQuery(scoring, steps);
  }
  return steps === undefined
    ? toStatusTable(await readDetectorStatus(detectorId, reading, toMs), direction)
    : detectorBands(detectorId, reading, steps);
};
