/** Actual and expected values of series by step, which panels draw as lines within bands. */

import type { StepRange } from '../../../queries/complete-steps.ts';
import { buildSeriesResult, type ResultData } from '../../../queries/query-result.ts';
import type { Incompleteness } from '../../../queries/result.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { listReadableSignals } from './detector-status.ts';

/** Label that identifies the part of a band. */
export const bandLabel = 'band';
export const bandParts = ['value', 'expected', 'at most', 'at least'] as const;

/** A step with its value, expected value, and upper and lower bound. */
export type BandPoint = readonly [
  startMs: number,
  value: number | null,
  expected: number | null,
  high: number | null,
  low: number | null,
];

export interface SeriesBand {
  readonly name: string;
  readonly unit: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly BandPoint[];
}

/** Returns the last point of each longer step. */
export const downsample = (points: readonly BandPoint[], stepMs: number): BandPoint[] => {
  const bySteps = new Map(points.map((point) => [Math.floor(point[0] / stepMs), point]));
  return [...bySteps].map(([step, [, ...values]]) => [step * stepMs, ...values]);
};

/**
 * Returns four series for each input series: value, expected value, and both bounds. Steps without a score are omitted.
 */
export const toBandSeries = (bands: readonly SeriesBand[], partial: readonly Incompleteness[]): ResultData =>
  buildSeriesResult(
    bands.flatMap(({ name, unit, labels, points }) =>
      bandParts.map((part, index) => ({
        name,
        unit,
        labels: { ...labels, [bandLabel]: part },
        points: points.map((point): [number, number | null] => [point[0], point[index + 1] ?? null]),
      })),
    ),
    [],
    partial,
  );

/** Maximum number of series of a detector in one panel. */
const maxSeries = 10;

interface Row {
  readonly key: string;
  readonly at: string;
  readonly was: number;
  readonly expected: number | null;
  readonly high: number | null;
  readonly low: number | null;
}

/**
 * Returns the bands of the anomalous series of a detector in the range, highest scores first. For other series, stored
 * scores have no labels.
 */
export const readDetectorBands = async (
  detectorId: string,
  reader: TenantReader,
  { fromMs, toMs, stepMs }: StepRange,
): Promise<ResultData> => {
  const queryParameters = { detector: detectorId, from: String(fromMs), to: String(toMs) };
  const anomalousSeries = await reader.columns.query<{
    key: string;
    name: string;
    unit: string;
    labels: Record<string, string>;
  }>(
    `SELECT series AS key, any(name) AS name, any(unit) AS unit, any(labels) AS labels FROM anomalies FINAL
    WHERE tenant_id = {tenant:String} AND hasAll({readable:Array(String)}, signals) AND detector_id = {detector:String}
      AND time < fromUnixTimestamp64Milli({to:Int64}, 'UTC') AND (end_ms = 0 OR end_ms > {from:Int64})
    GROUP BY series ORDER BY max(score) DESC, series LIMIT ${maxSeries + 1}`,
    { ...queryParameters, readable: listReadableSignals(reader) },
  );
  const selectedSeries = anomalousSeries.slice(0, maxSeries);
  const rows = await reader.columns.query<Row & Record<string, unknown>>(
    `SELECT series AS key, toString(intDiv(toUnixTimestamp64Milli(time), {step:Int64}) * {step:Int64}) AS at, argMax(value, time) AS was,
      argMax(tuple(expected), time).1 AS expected, argMax(tuple(high), time).1 AS high, argMax(tuple(low), time).1 AS low
    FROM anomaly_scores FINAL
    WHERE tenant_id = {tenant:String} AND detector_id = {detector:String} AND series IN {keys:Array(String)}
      AND time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    GROUP BY key, at ORDER BY key, toInt64(at)`,
    { ...queryParameters, step: String(stepMs), keys: selectedSeries.map(({ key }) => key) },
  );
  const byKey = Map.groupBy(rows, ({ key }) => key);
  return toBandSeries(
    selectedSeries.map(({ key, ...series }) => ({
      ...series,
      points: (byKey.get(key) ?? []).map(
        ({ at, was, expected, high, low }): BandPoint => [...([Number(at), was, expected, high, low] as const)],
      ),
    })),
    anomalousSeries.length > maxSeries
      ? [{ code: 'groups', message: `more series were anomalous: these are the ${maxSeries} with the highest scores` }]
      : [],
  );
};
