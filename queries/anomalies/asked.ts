/** Which series are unusual at the end of a range, or by step what they were and were expected to be: queries of the kind `anomaly`. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Answer, Asked } from '../answer.ts';
import { type AskPart, keptFromMs, type Steps, sinceFirst, stepsAsked, stepValues } from '../complete-steps.ts';
import { requireEntitlement } from '../entitlement.ts';
import { invalid } from '../errors.ts';
import type { AnomalyQuery, MeasuringQuery } from '../query.ts';
import type { Reading } from '../reading.ts';
import { parseDuration } from '../time.ts';
import { type Banded, type BandPoint, bandsAnswer, detectorBands, thinned } from './bands.ts';
import { detectorStanding } from './of-detector.ts';
import { seriesStanding } from './of-series.ts';
import { scoreSeries } from './scorer.ts';
import { standingTable } from './standing.ts';

/** Steps that are looked back on; they begin at multiples of so many, so that evaluations in a row begin where the one before did. */
const looked = { least: 1500, anchor: 500 };
/** Of all series together: they take some 25 CPU-µs each. */
const mostPoints = 50_000;

interface Scoring {
  readonly query: MeasuringQuery;
  readonly anomaly: AnomalyQuery;
  readonly reading: Reading;
  readonly ask: AskPart;
}

/** The series of a query with what comes before `toMs`, from `fromMs` at the latest on. */
const seriesOf = async ({ query, anomaly, reading, ask }: Scoring, toMs: number, fromMs: number) => {
  const stepMs = Number(parseDuration(anomaly.step ?? '1m') ?? 0n) / 1_000_000;
  const endMs = Math.floor(toMs / stepMs) * stepMs;
  const anchorMs = looked.anchor * stepMs;
  const anchoredMs = Math.floor(endMs / anchorMs) * anchorMs - looked.least * stepMs;
  const wantedMs = Math.min(anchoredMs, Math.floor(fromMs / stepMs) * stepMs);
  const keptMs = Math.ceil(keptFromMs(query, reading) / stepMs) * stepMs;
  const steps = { fromMs: Math.min(Math.max(wantedMs, keptMs), endMs - stepMs), toMs: endMs, stepMs };
  const { series, partial } = await ask(query, stepsAsked(query, steps));
  const points = (series.length * (endMs - steps.fromMs)) / stepMs;
  if (points > mostPoints)
    throw invalid(
      'query',
      `gives ${series.length} series of ${points / series.length} steps: at most ${mostPoints} points are scored at once, make a detector of it`,
    );
  const falseAlarmsPerWeek = (anomaly.falseAlarmsPerWeek ?? 1) / Math.max(1, series.length);
  const known = series.map(({ name, labels, unit, points: own }) => ({
    ...{ labels, name, unit, ...steps },
    values: sinceFirst(query, stepValues(query, own, steps)),
  }));
  return { series: known, partial, falseAlarmsPerWeek };
};

const standingOfQuery = async (scoring: Scoring, toMs: number): Promise<Answer> => {
  const { series, partial, falseAlarmsPerWeek } = await seriesOf(scoring, toMs, toMs);
  const standing = [];
  for (const one of series) {
    standing.push(seriesStanding(one, falseAlarmsPerWeek));
    await nextTurn();
  }
  return standingTable(standing, scoring.anomaly.direction, partial);
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
    await nextTurn();
  }
  return bandsAnswer(banded, partial);
};

/**
 * Without a step a table with a row for each series: of a detector those that are unusual, or were so within a day. With one series:
 * values, what was expected, and its bounds.
 */
export const runAnomaly = async (
  anomaly: AnomalyQuery,
  reading: Reading,
  { range, stepMs }: Asked,
  ask: AskPart,
): Promise<Answer> => {
  requireEntitlement(reading, 'ai');
  const toMs = Number((range.to + 1n) / 1_000_000n);
  const steps = stepMs === undefined ? undefined : { fromMs: Number(range.from / 1_000_000n), toMs, stepMs };
  const { query, detectorId = '', direction } = anomaly;
  if (query !== undefined) {
    const scoring = { query, anomaly, reading, ask };
    return steps === undefined ? standingOfQuery(scoring, toMs) : bandsOfQuery(scoring, steps);
  }
  return steps === undefined
    ? standingTable(await detectorStanding(detectorId, reading, toMs), direction)
    : detectorBands(detectorId, reading, steps);
};
