/** Status of the series of a detector, by its stored scores and anomalies. */

import { type ReadSignal, signalDefinitions } from '../../../queries/signals/index.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import type { Direction } from './anomaly-text.ts';
import type { Sign } from './signs.ts';
import type { SeriesStatus } from './status-table.ts';

const dayMs = 86_400_000;
/** Maximum duration of an anomaly, for any step. */
const maxAnomalyMs = 60 * dayMs;
/** Time for which an ended anomaly is reported. */
const reportEndedMs = dayMs;
/** Delay in steps and milliseconds after which a series without scores counts as unknown. */
const lateAfter = { steps: 3, ms: 600_000 };
const maxRows = 10_000;

interface AnomalyRow {
  readonly key: string;
  readonly name: string;
  readonly unit: string;
  readonly labels: Record<string, string>;
  readonly sign: Sign;
  readonly direction: Direction;
  readonly began: string;
  readonly ended: string;
  readonly step: string;
  readonly expected_before: number | null;
}

interface ScoreRow {
  readonly key: string;
  readonly last: string;
  readonly anomalous: number;
  readonly score: number;
  readonly value: number;
  readonly expected: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

/** Telemetry signals that the plan includes; anomalies of others are hidden. */
export const listReadableSignals = ({ plan }: Pick<TenantReader, 'plan'>): string[] =>
  (Object.keys(signalDefinitions) as ReadSignal[]).filter((signal) =>
    plan.entitlements.includes(signalDefinitions[signal].entitlement),
  );

/** Returns the last anomaly of each series that was active then, or had ended within a day. */
const readLastAnomalies = (reader: TenantReader, detectorId: string, toMs: number): Promise<AnomalyRow[]> =>
  reader.columns.query<AnomalyRow & Record<string, unknown>>(
    `SELECT series AS key, name, unit, labels, sign, direction, before AS expected_before, toString(step_ms) AS step,
      toString(toUnixTimestamp64Milli(time)) AS began, toString(end_ms) AS ended
    FROM anomalies FINAL
    WHERE tenant_id = {tenant:String} AND hasAll({readable:Array(String)}, signals) AND detector_id = {detector:String}
      AND time >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
      AND (end_ms = 0 OR end_ms > {ended:UInt64})
    ORDER BY series, time DESC LIMIT 1 BY series LIMIT ${maxRows}`,
    {
      readable: listReadableSignals(reader),
      detector: detectorId,
      since: String(toMs - maxAnomalyMs),
      to: String(toMs),
      ended: String(toMs - reportEndedMs),
    },
  );

/** Returns the scores of series from the start of their anomalies to the end of the range. */
const readScores = async (
  { columns }: TenantReader,
  detectorId: string,
  anomalies: readonly AnomalyRow[],
  toMs: number,
): Promise<ReadonlyMap<string, ScoreRow>> => {
  if (anomalies.length === 0) return new Map();
  const from = anomalies.reduce((min, { began }) => Math.min(min, Number(began)), toMs);
  const rows = await columns.query<ScoreRow & Record<string, unknown>>(
    `SELECT series AS key, toString(toUnixTimestamp64Milli(max(time))) AS last, argMax(is_anomalous, time) AS anomalous,
      argMax(value, time) AS value, argMax(tuple(expected), time).1 AS expected, argMax(tuple(low), time).1 AS low,
      argMax(tuple(high), time).1 AS high,
      maxIf(score, toUnixTimestamp64Milli(time) >= {begins:Array(Int64)}[indexOf({keys:Array(String)}, toString(series))]) AS score
    FROM anomaly_scores FINAL
    WHERE tenant_id = {tenant:String} AND detector_id = {detector:String} AND series IN {keys:Array(String)}
      AND time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    GROUP BY series`,
    {
      detector: detectorId,
      keys: anomalies.map(({ key }) => key),
      begins: anomalies.map(({ began }) => began),
      from: String(from),
      to: String(toMs),
    },
  );
  return new Map(rows.map((row) => [row.key, row]));
};

const toAnomalyStatus = (anomaly: AnomalyRow, row: ScoreRow | undefined, toMs: number): SeriesStatus => {
  const { labels, name, unit, expected_before: before } = anomaly;
  const seriesFields = { labels, name, unit, before };
  const stepMs = Number(anomaly.step);
  const noAnomaly = { score: 0, sign: null, direction: null, beginMs: null };
  const isOver = anomaly.ended !== '0' && Number(anomaly.ended) < toMs;
  if (row === undefined || toMs - Number(row.last) > (lateAfter.steps + 1) * stepMs + lateAfter.ms) {
    const noScores = { ...seriesFields, value: null, expected: null, low: null, high: null };
    if (isOver) return { ...noScores, ...noAnomaly };
    const last = row === undefined ? '' : ` since ${new Date(Number(row.last)).toISOString()}`;
    return { ...noScores, ...noAnomaly, score: null, unknown: `its detector has scored no step of the series${last}` };
  }
  const { value, expected, low, high, score } = row;
  const scoredFields = { ...seriesFields, value, expected, low, high };
  if (isOver || row.anomalous !== 1) return { ...scoredFields, ...noAnomaly };
  return { ...scoredFields, score, sign: anomaly.sign, direction: anomaly.direction, beginMs: Number(anomaly.began) };
};

/**
 * Returns the status of series that are anomalous at a time, or were within the day before. Other series are omitted,
 * because their stored scores have no labels.
 */
export const readDetectorStatus = async (
  detectorId: string,
  reader: TenantReader,
  toMs: number,
): Promise<SeriesStatus[]> => {
  const anomalies = await readLastAnomalies(reader, detectorId, toMs);
  const scoresByKey = await readScores(reader, detectorId, anomalies, toMs);
  return anomalies.map((anomaly) => toAnomalyStatus(anomaly, scoresByKey.get(anomaly.key), toMs));
};
