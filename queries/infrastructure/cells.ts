/**
 * What series say of things (hosts, pods, disks): the latest value of each, or values by step, summed over the series that differ
 * only in labels that were not asked for. Tables and series of both groups read through this, so their numbers agree.
 */
import { quote } from '../../schemas/tables/literal.ts';
import type { Attributes } from '../attributes.ts';
import { type ProjectScope, projectScopeCondition, projectScopeValues } from '../project-scope.ts';
import type { Range } from '../range.ts';
import type { Reading } from '../reading.ts';
import { resourcesOf } from '../resources.ts';

/** Series of one metric and resource with equal labels, as far as labels were asked for. */
export interface Cell {
  readonly metric: string;
  /** Attributes of the resource; empty for remote-write. */
  readonly resource: Attributes;
  readonly resourceId: string;
  /** Labels that were asked for and are there. */
  readonly labels: Readonly<Record<string, string>>;
  /** How many series were summed. */
  readonly series: number;
  /** The latest values, summed; by step: the means. */
  readonly level: number;
  /** Increase a second, resets counted, summed; `undefined` where no series has two points. */
  readonly rate: number | undefined;
  /** Increase in the range or step, resets counted, summed. */
  readonly increase: number;
  /** The largest values of each, summed. */
  readonly peak: number;
  /** Time of the latest point. */
  readonly atMs: number;
  /** Start of the step; 0 without steps. */
  readonly bucketMs: number;
}

export interface CellQuery extends ProjectScope {
  readonly metrics: readonly string[];
  /** Labels that are kept apart. */
  readonly labels: readonly string[];
  readonly range: Range;
  /** Values by step; without it the latest in the range. */
  readonly stepMs?: number;
  /** SQL about columns of `series`, with its parameters: which series. */
  readonly series?: { readonly sql: string; readonly parameters: Readonly<Record<string, string>> };
}

export interface Cells {
  readonly cells: readonly Cell[];
  /** Whether there were more than can be read at once. */
  readonly isCut: boolean;
}

const mostCells = 300_000;
const hourMs = 3_600_000;
/** Of series that differ in other labels alone, those that ended this long before the newest have been replaced: the container restarted. */
const replacedMs = 150_000;

interface Row {
  readonly metric: string;
  readonly resource: string;
  readonly labels: readonly string[];
  readonly series: string;
  readonly level: number;
  readonly rate: number | null;
  readonly increase: number;
  readonly peak: number;
  readonly at: string;
  readonly bucket: string;
}

const milliseconds = (column: string): string => `toUnixTimestamp64Milli(${column})`;

/** Cells of these metrics in the range. */
export const readCells = async (reading: Reading, query: CellQuery): Promise<Cells> => {
  if (query.metrics.length === 0) return { cells: [], isCut: false };
  const rows = await reading.columns.query<Row>(
    cellsSql(query),
    { ...parametersOf(query), ...query.series?.parameters, ...projectScopeValues(query) },
    { maxResultRows: mostCells + 1 },
  );
  const shown = rows.slice(0, mostCells);
  const resources = await resourcesOf(
    reading.columns,
    shown.map(({ resource }) => resource),
  );
  return {
    isCut: rows.length > mostCells,
    cells: shown.map((row) => ({
      metric: row.metric,
      resource: resources.get(row.resource)?.attributes ?? {},
      resourceId: row.resource,
      labels: Object.fromEntries(
        query.labels.map((key, index) => [key, row.labels[index] ?? '']).filter(([, value]) => value !== ''),
      ),
      series: Number(row.series),
      level: row.level,
      rate: row.rate ?? undefined,
      increase: row.increase,
      peak: row.peak,
      atMs: Number(row.at),
      bucketMs: Number(row.bucket),
    })),
  };
};

const parametersOf = ({ range: { from, to } }: CellQuery): Record<string, string> => ({
  from: String(from),
  to: String(to),
  // A series' row is written once an hour while it has points; a host's clock may be off by as much.
  seen: String(Number(from / 1_000_000n) - 2 * hourMs),
  // Points are received after their time; parts of what came long before are left out by it, unlike by the time, which the key has last.
  received: String(Number(from / 1_000_000n) - hourMs / 2),
});

const listOf = (texts: readonly string[]): string => `[${texts.map(quote).join(', ')}]`;

/** SQL of the series that are meant: their ids, resources and labels. */
const seriesSql = (query: CellQuery): string => {
  const labels = `arrayMap(key -> series.attributes[key], ${query.labels.length === 0 ? "['']" : listOf(query.labels)})`;
  return `SELECT metric, series_id, any(series.resource_id) AS resource, any(series.temporality) AS temporality, any(${labels}) AS labels
    FROM series WHERE tenant_id = {tenant:String} AND metric IN (${query.metrics.map(quote).join(', ')})
      AND last_seen >= fromUnixTimestamp64Milli({seen:Int64}, 'UTC')${query.series === undefined ? '' : ` AND (${query.series.sql})`}${projectScopeCondition(query)}
    GROUP BY metric, series_id`;
};

const cellsSql = (query: CellQuery): string => {
  const step = query.stepMs;
  const bucket = step === undefined ? 'toInt64(0)' : `intDiv(${milliseconds('samples.timestamp')}, ${step}) * ${step}`;
  const narrowed = query.series === undefined ? '' : ` AND series_id IN (SELECT series_id FROM (${seriesSql(query)}))`;
  // The first point of a series in the range only says where its increase begins.
  const points = `SELECT metric, series_id, flags, value, ${milliseconds('samples.timestamp')} AS at, ${bucket} AS bucket,
      lagInFrame(value) OVER earlier AS before, lagInFrame(${milliseconds('samples.timestamp')}) OVER earlier AS before_at
    FROM samples WHERE tenant_id = {tenant:String} AND metric IN (${query.metrics.map(quote).join(', ')})
      AND samples.timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND samples.timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
      AND received_at >= fromUnixTimestamp64Milli({received:Int64}, 'UTC')${narrowed}
    WINDOW earlier AS (PARTITION BY metric, series_id ORDER BY samples.timestamp ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)`;
  // Remote-write ends a series with NaN.
  const pair = 'before_at != 0 AND isFinite(value) AND isFinite(before)';
  const perSeries = `SELECT metric, series_id, bucket, argMax(value, at) AS last, avgIf(value, isFinite(value)) AS mean, maxIf(value, isFinite(value)) AS largest, argMax(flags, at) AS last_flags, max(at) AS newest_at,
      sumIf(value, ${pair}) AS as_delta, sumIf(if(value < before, value, value - before), ${pair}) AS as_cumulative,
      sumIf(at - before_at, ${pair}) AS covered
    FROM (${points}) GROUP BY metric, series_id, bucket`;
  const joined = `SELECT metric, resource, labels, bucket, ${step === undefined ? 'last' : 'mean'} AS one_level, newest_at, largest, if(temporality = 1, as_delta, as_cumulative) AS one_increase,
      if(covered = 0, NULL, 1000 * if(temporality = 1, as_delta, as_cumulative) / covered) AS one_rate,
      max(newest_at) OVER (PARTITION BY metric, resource, labels, bucket) AS newest
    FROM (${perSeries}) AS points INNER JOIN (${seriesSql(query)}) AS known USING (metric, series_id)
    WHERE bitAnd(last_flags, 1) = 0 AND isFinite(one_level)`;
  return `SELECT metric, toString(resource) AS resource, labels, toString(count()) AS series, sum(one_level) AS level, sum(one_increase) AS increase, sum(largest) AS peak,
      if(countIf(one_rate IS NOT NULL) = 0, NULL, sum(one_rate)) AS rate, toString(max(newest_at)) AS at, toString(bucket) AS bucket
    FROM (${joined}) WHERE ${step === undefined ? `newest_at >= newest - ${replacedMs}` : 'true'}
    GROUP BY metric, resource, labels, bucket ORDER BY metric, resource, labels, bucket LIMIT ${mostCells + 1}`;
};
