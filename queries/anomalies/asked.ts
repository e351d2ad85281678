/** Which series are unusual at the end of a range: what queries of the kind `anomaly` ask. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Answer, Asked } from '../answer.ts';
import { type AskPart, keptFromMs, sinceFirst, stepsAsked, stepValues } from '../complete-steps.ts';
import { requireEntitlement } from '../entitlement.ts';
import { invalid } from '../errors.ts';
import type { AnomalyQuery, MeasuringQuery } from '../query.ts';
import type { Reading } from '../reading.ts';
import { parseDuration } from '../time.ts';
import { detectorStanding } from './of-detector.ts';
import { seriesStanding } from './of-series.ts';
import { standingTable } from './standing.ts';

/** Steps that are looked back on; they begin at multiples of so many, so that evaluations in a row begin where the one before did. */
const looked = { least: 1500, anchor: 500 };
/** Of all series together: they take some 25 CPU-µs each. */
const mostPoints = 50_000;

const ofQuery = async (
  query: MeasuringQuery,
  { step, falseAlarmsPerWeek = 1, direction }: AnomalyQuery,
  reading: Reading,
  toMs: number,
  ask: AskPart,
): Promise<Answer> => {
  const stepMs = Number(parseDuration(step ?? '1m') ?? 0n) / 1_000_000;
  const endMs = Math.floor(toMs / stepMs) * stepMs;
  const anchorMs = looked.anchor * stepMs;
  const wantedMs = Math.floor(endMs / anchorMs) * anchorMs - looked.least * stepMs;
  const keptMs = Math.ceil(keptFromMs(query, reading) / stepMs) * stepMs;
  const steps = { fromMs: Math.min(Math.max(wantedMs, keptMs), endMs - stepMs), toMs: endMs, stepMs };
  const { series, partial } = await ask(query, stepsAsked(query, steps));
  const points = (series.length * (endMs - steps.fromMs)) / stepMs;
  if (points > mostPoints)
    throw invalid(
      'query',
      `gives ${series.length} series of ${points / series.length} steps: at most ${mostPoints} points are scored at once, make a detector of it`,
    );
  const standing = [];
  for (const { name, labels, unit, points: own } of series) {
    const values = sinceFirst(query, stepValues(query, own, steps));
    standing.push(
      seriesStanding({ labels, name, unit, ...steps, values }, falseAlarmsPerWeek / Math.max(1, series.length)),
    );
    await nextTurn();
  }
  return standingTable(standing, direction, partial);
};

/** A table with a row for each series: of a detector those that are unusual, or were so within a day. */
export const runAnomaly = async (
  query: AnomalyQuery,
  reading: Reading,
  { range, stepMs }: Asked,
  ask: AskPart,
): Promise<Answer> => {
  requireEntitlement(reading, 'ai');
  if (stepMs !== undefined) throw invalid('step', 'is not for anomalies, which stand at one time');
  const toMs = Number((range.to + 1n) / 1_000_000n);
  return query.query === undefined
    ? standingTable(await detectorStanding(query.detectorId ?? '', reading, toMs), query.direction)
    : ofQuery(query.query, query, reading, toMs, ask);
};
