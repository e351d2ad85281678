/** Reads stored anomalies and scores. */

import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { AnomalyChange } from '../../schemas/anomalies.ts';
import { createHistoryCondition, type HistoryPage } from '../events/history-page.ts';
import { listReadableSignals } from './scores/detector-status.ts';

/** An anomaly as of its last change. */
export interface StoredAnomaly
  extends Pick<AnomalyChange, 'id' | 'projectId' | 'detectorId' | 'detectorName' | 'detectorLabels' | 'key' | 'name'>,
    Pick<
      AnomalyChange,
      'unit' | 'labels' | 'sign' | 'direction' | 'why' | 'score' | 'value' | 'expected' | 'low' | 'high'
    >,
    Pick<AnomalyChange, 'before' | 'stepMs' | 'beginMs' | 'endMs' | 'peakMs'> {
  /** Start of the anomaly in milliseconds, as a pagination cursor. */
  readonly ms: string;
}

interface Row extends Pick<StoredAnomaly, 'name' | 'unit' | 'labels' | 'sign' | 'direction' | 'why' | 'score'> {
  readonly anomaly: string;
  readonly project: string;
  readonly detector: string;
  readonly detector_called: string;
  readonly own_labels: Record<string, string>;
  readonly key: string;
  readonly ms: string;
  readonly ended: string;
  readonly step: string;
  readonly peak: string;
  readonly value: number;
  readonly expected: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly expected_before: number | null;
}

const selectAnomalies = `SELECT id AS anomaly, project_id AS project, detector_id AS detector, detector_name AS detector_called,
  detector_labels AS own_labels, series AS key, name, unit, labels, sign, direction, why, score,
  toString(toUnixTimestamp64Milli(time)) AS ms, toString(end_ms) AS ended, toString(step_ms) AS step,
  toString(peak_ms) AS peak, value, expected, low, high, before AS expected_before
  FROM anomalies FINAL WHERE tenant_id = {tenant:String} AND hasAll({readable:Array(String)}, signals)`;

const toAnomaly = (row: Row): StoredAnomaly => ({
  id: row.anomaly,
  projectId: row.project,
  detectorId: row.detector,
  detectorName: row.detector_called,
  detectorLabels: row.own_labels,
  key: row.key,
  name: row.name,
  unit: row.unit,
  labels: row.labels,
  sign: row.sign,
  direction: row.direction,
  why: row.why,
  score: row.score,
  value: row.value,
  expected: row.expected,
  low: row.low,
  high: row.high,
  before: row.expected_before,
  stepMs: Number(row.step),
  beginMs: Number(row.ms),
  endMs: row.ended === '0' ? null : Number(row.ended),
  peakMs: Number(row.peak),
  ms: row.ms,
});

export interface AnomalyFilter extends ProjectScope {
  readonly detectorId?: string | undefined;
  readonly series?: string | undefined;
  readonly direction?: string | undefined;
  /** Filter for ongoing or ended anomalies. */
  readonly state?: 'open' | 'ended' | undefined;
}

type AnomalyReader = Pick<TenantReader, 'columns' | 'plan'>;

/** Returns the anomalies that began in a range, latest first. */
export const readAnomalies = async (
  reader: AnomalyReader,
  { detectorId, series, direction, state, ...scope }: AnomalyFilter,
  page: HistoryPage,
): Promise<StoredAnomaly[]> => {
  const { sql, values } = createHistoryCondition(page, 'id');
  const conditions = [
    sql,
    ...(detectorId === undefined ? [] : ['detector_id = {detector:String}']),
    ...(series === undefined ? [] : ['series = {series:String}']),
    ...(direction === undefined ? [] : ['direction = {direction:String}']),
    ...(state === undefined ? [] : [state === 'open' ? 'end_ms = 0' : 'end_ms > 0']),
  ];
  const rows = await reader.columns.query<Row & Record<string, unknown>>(
    `${selectAnomalies} AND ${conditions.join(' AND ')}${buildProjectScopeCondition(scope)} ORDER BY time DESC, id DESC LIMIT ${page.limit}`,
    {
      readable: listReadableSignals(reader),
      ...values,
      ...toProjectScopeParameters(scope),
      ...(detectorId !== undefined && { detector: detectorId }),
      ...(series !== undefined && { series }),
      ...(direction !== undefined && { direction }),
    },
  );
  return rows.map(toAnomaly);
};

/** Returns the ongoing anomalies, highest scores first. */
export const readOpenAnomalies = async (
  reader: AnomalyReader,
  scope: ProjectScope,
  limit: number,
): Promise<StoredAnomaly[]> => {
  const rows = await reader.columns.query<Row & Record<string, unknown>>(
    `${selectAnomalies} AND end_ms = 0${buildProjectScopeCondition(scope)} ORDER BY score DESC, time DESC, id LIMIT ${limit}`,
    { readable: listReadableSignals(reader), ...toProjectScopeParameters(scope) },
  );
  return rows.map(toAnomaly);
};

/** Returns the anomaly with an ID; undefined if it is not stored yet. */
export const findAnomaly = async (reader: AnomalyReader, id: string): Promise<StoredAnomaly | undefined> => {
  const beginMs = Number.parseInt(id.split('.').at(-1) ?? '', 36);
  if (!Number.isSafeInteger(beginMs) || beginMs < 0 || beginMs > 8_640_000_000_000) return undefined;
  const [row] = await reader.columns.query<Row & Record<string, unknown>>(
    `${selectAnomalies} AND time = fromUnixTimestamp64Milli({begin:Int64}, 'UTC') AND id = {id:String} LIMIT 1`,
    { readable: listReadableSignals(reader), begin: String(beginMs), id },
  );
  return row === undefined ? undefined : toAnomaly(row);
};

export type ScoredPoint = readonly [
  startMs: number,
  value: number,
  expected: number | null,
  low: number | null,
  high: number | null,
  score: number,
  isAnomalous: boolean,
];

/** Returns the scored steps of a series, in order. */
export const readScores = async (
  { columns }: Pick<TenantReader, 'columns'>,
  { detectorId, key }: Pick<StoredAnomaly, 'detectorId' | 'key'>,
  { fromMs, toMs, limit }: { readonly fromMs: number; readonly toMs: number; readonly limit: number },
): Promise<ScoredPoint[]> => {
  const rows = await columns.query<{ ms: string; value: number; anomalous: number; score: number } & ScoreBounds>(
    `SELECT toString(toUnixTimestamp64Milli(time)) AS ms, value, expected, low, high, score, is_anomalous AS anomalous
    FROM anomaly_scores FINAL WHERE tenant_id = {tenant:String} AND detector_id = {detector:String} AND series = {series:String}
      AND time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    ORDER BY time LIMIT ${limit}`,
    { detector: detectorId, series: key, from: String(fromMs), to: String(toMs) },
  );
  return rows.map(
    ({ ms, value, expected, low, high, score, anomalous }): ScoredPoint => [
      ...([Number(ms), value, expected, low, high, score, anomalous === 1] as const),
    ],
  );
};
type ScoreBounds = Record<'expected' | 'low' | 'high', number | null>;
