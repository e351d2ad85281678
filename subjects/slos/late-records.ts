/** Finds slices that received records after their end; only these are measured again */

import type { QueryBatcher } from '../../queries/batch/query-batcher.ts';
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import { readMetricNames } from '../../queries/promql/read-metric-names.ts';
import { defaultLookbackMs } from '../../queries/promql/run-promql.ts';
import type { Query } from '../../queries/query.ts';
import { getPromql, getQueryKind, listPartQueries } from '../../queries/query-kind.ts';
import { signalDefinitions } from '../../queries/signals/index.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { parseDurationMs } from '../alerts/durations.ts';
import { batchQuery } from './batch-query.ts';
import type { SloFields } from './document.ts';
import type { Window } from './slices/windows.ts';

const minuteMs = 60_000;
/** Maximum gap between late slices that are measured in one query */
const maxGapSlices = 30;
/** Maximum number of late windows; with more, the full window is measured again */
const maxWindows = 8;

type RecordSignal = 'logs' | 'traces';

/** Minutes by service */
type LateMinutes = ReadonlyMap<string, readonly number[]>;

/**
 * Window with the reception time since which records may not be measured yet: usually the end of the window, or
 * earlier if records were stored late
 */
interface LateSearchWindow extends Window {
  readonly sinceMs: number;
}

/**
 * Returns the minutes of a window for which records were received since `sinceMs`. Recently received rows are in few
 * parts of the table, and only these are read (`queries/freshness.ts`).
 */
const readLateMinutes = async (
  { columns }: Pick<TenantReader, 'columns'>,
  signal: RecordSignal,
  window: LateSearchWindow,
): Promise<LateMinutes> => {
  const { table } = signalDefinitions[signal].newest;
  const rows = await columns.query<{ readonly name: string; readonly minutes: readonly string[] }>(
    `SELECT toString(service) AS name, arrayMap(minute -> toString(minute), groupUniqArray(intDiv(toUnixTimestamp(timestamp), 60))) AS minutes
    FROM ${table} WHERE tenant_id = {tenant:String} AND received_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
      AND toStartOfTenMinutes(timestamp) >= toStartOfTenMinutes(fromUnixTimestamp64Milli({from:Int64}, 'UTC'))
      AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND timestamp < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    GROUP BY name`,
    { from: String(window.fromMs), to: String(window.toMs), since: String(window.sinceMs) },
  );
  return new Map(rows.map(({ name, minutes }) => [name, minutes.map(Number)]));
};

const pointTables = ['samples', 'histograms', 'summaries'] as const;

/**
 * Returns the earliest time, within a window or at its end, of points that were received since `sinceMs`, in
 * milliseconds by metric. Other metrics are not read.
 */
const readLatePointTimes = async (
  { columns }: Pick<TenantReader, 'columns'>,
  metrics: readonly string[],
  window: LateSearchWindow,
): Promise<ReadonlyMap<string, number>> => {
  const selects = pointTables.map(
    (table) => `SELECT toString(metric) AS name, toUnixTimestamp64Milli(min(timestamp)) AS first FROM ${table}
    WHERE tenant_id = {tenant:String} AND metric IN {metrics:Array(String)} AND received_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
      AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    GROUP BY name`,
  );
  const rows = await columns.query<{ readonly name: string; readonly earliest: string }>(
    `SELECT name, toString(min(first)) AS earliest FROM (${selects.join(' UNION ALL ')}) GROUP BY name`,
    { metrics: [...metrics], from: String(window.fromMs), to: String(window.toMs), since: String(window.sinceMs) },
  );
  return new Map(rows.map(({ name, earliest }) => [name, Number(earliest)]));
};

interface MeasuredData {
  readonly signals: readonly RecordSignal[];
  /** Service of the records; omitted for all */
  readonly service?: string;
  readonly metrics: readonly string[];
  /** PromQL expressions, evaluated at the end of each slice */
  readonly expressions: readonly string[];
}

/** Returns the parts of a query with parts; another query itself. */
export const listLeafQueries = (query: Query): readonly Query[] =>
  getQueryKind(query).combine === undefined ? [query] : listPartQueries(query).map(([, part]) => part);

/** Returns the data that an SLO counts; `undefined` if the affected slices of a record cannot be determined. */
const findMeasuredData = ({ query: { sli }, service }: SloFields): MeasuredData | undefined => {
  if (sli === undefined) return { signals: ['traces'], service, metrics: [], expressions: [] };
  const signals = new Set<RecordSignal>();
  const metrics = new Set<string>();
  const expressions = new Set<string>();
  const queries = [sli.good, sli.bad, sli.total, sli.value].filter((query) => query !== undefined);
  // A formula has a value where its parts have one, so only its parts matter.
  for (const query of queries.flatMap(listLeafQueries)) {
    const expression = getPromql(query);
    if ('metric' in query) metrics.add(query.metric);
    else if (expression !== undefined) expressions.add(expression);
    else if ('measures' in query && (query.signal === 'logs' || query.signal === 'traces')) signals.add(query.signal);
    else return undefined;
  }
  return { signals: [...signals], metrics: [...metrics], expressions: [...expressions] };
};

/**
 * Returns the stored metrics that expressions read at the ends of a window's slices; `undefined` if a slice may depend
 * on later points, or on arbitrary metrics.
 */
export const readExpressionMetrics = async (
  expressions: readonly string[],
  { fromMs, toMs, sliceMs }: Window & { readonly sliceMs: number },
  { columns, promql }: QueryReader,
): Promise<readonly string[] | undefined> => {
  if (promql === undefined && expressions.length > 0) return undefined;
  const all = new Set<string>();
  for (const expression of expressions) {
    const steps = { startMs: fromMs + sliceMs, endMs: toMs, stepMs: sliceMs, lookbackMs: defaultLookbackMs };
    const metrics = promql && (await readMetricNames(expression, steps, { columns, translation: promql.translation }));
    if (metrics === undefined) return undefined;
    for (const metric of metrics) all.add(metric);
  }
  return [...all];
};

/** Returns windows of full slices that contain these minutes. */
const toWindows = (minutes: readonly number[], { fromMs, toMs }: Window, sliceMs: number): Window[] => {
  const begins = new Set(minutes.map((minute) => Math.floor((minute * minuteMs) / sliceMs) * sliceMs));
  const windows: Window[] = [];
  for (const beginMs of [...begins].toSorted((left, right) => left - right)) {
    const last = windows.at(-1);
    if (last !== undefined && beginMs - last.toMs <= maxGapSlices * sliceMs)
      windows[windows.length - 1] = { fromMs: last.fromMs, toMs: beginMs + sliceMs };
    else windows.push({ fromMs: beginMs, toMs: beginMs + sliceMs });
  }
  return windows.length > maxWindows ? [{ fromMs, toMs }] : windows;
};

/**
 * Returns the parts of a window to measure again; the window starts and ends at slice boundaries. Records received up
 * to `storedUpToMs` were stored before; others were stored since, regardless of their reception time.
 */
export const findLateWindows = async (
  slo: SloFields,
  window: Window,
  {
    reader,
    batcher,
    storedUpToMs = window.toMs,
  }: { readonly reader: QueryReader; readonly batcher: QueryBatcher; readonly storedUpToMs?: number | undefined },
): Promise<Window[]> => {
  const data = findMeasuredData(slo);
  const sliceMs = parseDurationMs(slo.query.slice);
  const expressionMetrics = data && (await readExpressionMetrics(data.expressions, { ...window, sliceMs }, reader));
  if (data === undefined || expressionMetrics === undefined) return [window];
  const { signals: recordSignals, service, metrics } = data;
  const searchWindow = { ...window, sinceMs: Math.min(window.toMs, storedUpToMs) };
  const windowKey = `${window.fromMs} ${window.toMs} ${searchWindow.sinceMs}`;
  const lateMinutes = await Promise.all(
    recordSignals.map((signal) =>
      batchQuery(batcher, { key: `late ${signal} ${windowKey}`, member: '' }, () =>
        readLateMinutes(reader, signal, searchWindow),
      ),
    ),
  );
  const readFirstPointTime = async (members: readonly string[]): Promise<number> => {
    const pointTimes = members.map(async (member) => {
      const points = await batchQuery(batcher, { key: `late points ${windowKey}`, member }, (all) =>
        readLatePointTimes(reader, all, searchWindow),
      );
      return points.get(member) ?? Number.POSITIVE_INFINITY;
    });
    return Math.min(...(await Promise.all(pointTimes)));
  };
  const [firstPointMs, firstExpressionPointMs] = await Promise.all([
    readFirstPointTime(metrics),
    readFirstPointTime(expressionMetrics),
  ]);
  // A point also affects later slices, because a counter increases from it to the next point. At its own time, PromQL
  // evaluates the slice that ends then.
  const firstAffectedMs = Math.min(
    ...[window.toMs, Math.floor(firstPointMs / sliceMs) * sliceMs],
    Math.max(window.fromMs, Math.ceil(firstExpressionPointMs / sliceMs) * sliceMs - sliceMs),
  );
  const minutes = lateMinutes
    .flatMap((lateMinute) =>
      service === undefined ? [...lateMinute.values()].flat() : (lateMinute.get(service) ?? []),
    )
    .filter((minute) => minute * minuteMs < firstAffectedMs);
  const windowsAfter = firstAffectedMs < window.toMs ? [{ fromMs: firstAffectedMs, toMs: window.toMs }] : [];
  return [...toWindows(minutes, { fromMs: window.fromMs, toMs: firstAffectedMs }, sliceMs), ...windowsAfter];
};
