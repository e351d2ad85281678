/** Reads the values of each series of a query in a range or step, by one statement over points, which reference their series by id. */

import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import { type Block, decodeBlocks, getNumbers } from '../../queries/promql/fetch/native-blocks.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { getHostSeenSinceMs } from './known-series.ts';

/** A query for series */
export interface CellQuery extends ProjectScope {
  readonly metrics: readonly string[];
  /** Metrics for which increases and rates are requested. Their points must be sorted, which takes the most time. */
  readonly counters: readonly string[];
  /** Labels to group by */
  readonly labels: readonly string[];
  readonly range: Range;
  /** Step in milliseconds; without it, the latest values of the range */
  readonly stepMs?: number;
  /** SQL condition on columns of `series`, with its parameters, that selects series */
  readonly series?: { readonly sql: string; readonly parameters: Readonly<Record<string, string>> };
}

/** Rows by series and step */
export interface StepRows {
  readonly ids: readonly bigint[];
  /** Start of the step; 0 without steps */
  readonly bucketMs: Float64Array;
  /** Latest value; with steps, the mean */
  readonly level: Float64Array;
  readonly peak: Float64Array;
  readonly atMs: Float64Array;
  /**
   * Increase between the points, from deltas or a cumulative total, and the time between the points; 0 for metrics that
   * are not counters
   */
  readonly deltaIncrease: Float64Array;
  readonly asCumulative: Float64Array;
  readonly coveredMs: Float64Array;
  /** Whether the result was truncated at the limit */
  readonly isTruncated: boolean;
}

const maxRows = 1_000_000;
const maxSelectedSeries = 100_000;
const hourMs = 3_600_000;

const toMillisecondsSql = (column: string): string => `toUnixTimestamp64Milli(${column})`;
const quoteList = (metrics: readonly string[]): string => metrics.map(quoteString).join(', ');

/** Returns the ids of the series of a query if it selects a part of its metrics' series; `undefined` for all series. */
const readSelectedIds = async (reader: TenantReader, query: CellQuery): Promise<readonly string[] | undefined> => {
  const { metrics, series } = query;
  if (series === undefined) return undefined;
  const rows = await reader.columns.query<{ id: string }>(
    `SELECT DISTINCT toString(series_id) AS id FROM series WHERE tenant_id = {tenant:String} AND metric IN (${quoteList(metrics)})
      AND last_seen >= fromUnixTimestamp64Milli({seen:Int64}, 'UTC') AND (${series.sql}) LIMIT ${maxSelectedSeries + 1}`,
    {
      seen: String(getHostSeenSinceMs(Number(query.range.from / 1_000_000n))),
      ...series.parameters,
    },
    { maxResultRows: maxSelectedSeries + 1 },
  );
  return rows.map(({ id }) => id);
};

const buildPointsSql = (query: CellQuery, metrics: readonly string[], ids: readonly string[] | undefined): string =>
  `FROM samples WHERE tenant_id = {tenant:String} AND metric IN (${quoteList(metrics)})
      AND samples.timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND samples.timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
      AND received_at >= fromUnixTimestamp64Milli({received:Int64}, 'UTC')${buildProjectScopeCondition(query)}${ids === undefined ? '' : ` AND series_id IN (${ids.slice(0, maxSelectedSeries).join(', ')})`}`;

const buildSelectSql = (increases: string, step: number | undefined): string =>
  `SELECT series_id AS id, toFloat64(bucket) AS bucketMs, ${step === undefined ? 'argMax(value, at)' : 'avgIf(value, isFinite(value))'} AS level,
      maxIf(value, isFinite(value)) AS peak, toFloat64(max(at)) AS atMs, ${increases}`;
// The last point may be a no-value marker, and remote-write ends a series with NaN.
const hasValue = 'HAVING bitAnd(argMax(flags, at), 1) = 0 AND isFinite(level)';

const buildStatement = (query: CellQuery, ids: readonly string[] | undefined): string => {
  const step = query.stepMs;
  const timeSql = toMillisecondsSql('samples.timestamp');
  const bucket = step === undefined ? 'toInt64(0)' : `intDiv(${timeSql}, ${step}) * ${step}`;
  const counterMetrics = query.metrics.filter((metric) => query.counters.includes(metric));
  const levelMetrics = query.metrics.filter((metric) => !query.counters.includes(metric));
  const zeroColumns = ['asDelta', 'asCumulative', 'coveredMs'].map((name) => `toFloat64(0) AS ${name}`).join(', ');
  const levelsSql = `${buildSelectSql(zeroColumns, step)}
    FROM (SELECT series_id, flags, value, ${timeSql} AS at, ${bucket} AS bucket ${buildPointsSql(query, levelMetrics, ids)}) GROUP BY id, bucket ${hasValue}`;
  const pairCondition = 'before_at != 0 AND isFinite(value) AND isFinite(before)';
  const increases = `sumIf(value, ${pairCondition}) AS asDelta, sumIf(if(value < before, value, value - before), ${pairCondition}) AS asCumulative,
      toFloat64(sumIf(at - before_at, ${pairCondition})) AS coveredMs`;
  // The first point of a series in the range only defines the start of its increase.
  const countersSql = `${buildSelectSql(increases, step)}
    FROM (SELECT series_id, flags, value, ${timeSql} AS at, ${bucket} AS bucket, lagInFrame(value) OVER earlier AS before, lagInFrame(${timeSql}) OVER earlier AS before_at
      ${buildPointsSql(query, counterMetrics, ids)}
      WINDOW earlier AS (PARTITION BY metric, series_id ORDER BY samples.timestamp ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)) GROUP BY id, bucket ${hasValue}`;
  const parts = [
    ...(levelMetrics.length === 0 ? [] : [levelsSql]),
    ...(counterMetrics.length === 0 ? [] : [countersSql]),
  ];
  return `SELECT * FROM (${parts.join(' UNION ALL ')}) LIMIT ${maxRows + 1}`;
};

const buildParameters = (query: CellQuery): Record<string, string> => {
  const { from, to } = query.range;
  const fromMs = Number(from / 1_000_000n);
  return {
    from: String(from),
    to: String(to),
    // Points are received after their time. This condition prunes parts of earlier data, unlike the time, which is last
    // in the key.
    received: String(fromMs - hourMs / 2),
    ...toProjectScopeParameters(query),
  };
};

/** Returns the values of the series of a query. */
export const readStepRows = async (reader: TenantReader, query: CellQuery): Promise<StepRows> => {
  const selectedIds = await readSelectedIds(reader, query);
  const hasNoSeries = selectedIds?.length === 0;
  const limits = { maxResultRows: maxRows + 1 };
  const blocks = hasNoSeries
    ? []
    : decodeBlocks(
        await reader.columns.queryNative(buildStatement(query, selectedIds), buildParameters(query), limits),
      );
  const collectNumbers = (name: string): Float64Array => concatenate(blocks.map((block) => getNumbers(block, name)));
  const ids = blocks.flatMap(readIds);
  return {
    ids,
    bucketMs: collectNumbers('bucketMs'),
    level: collectNumbers('level'),
    peak: collectNumbers('peak'),
    atMs: collectNumbers('atMs'),
    deltaIncrease: collectNumbers('asDelta'),
    asCumulative: collectNumbers('asCumulative'),
    coveredMs: collectNumbers('coveredMs'),
    isTruncated: ids.length > maxRows || (selectedIds?.length ?? 0) > maxSelectedSeries,
  };
};

const readIds = ({ columns, rows }: Block): bigint[] => {
  const column = columns.get('id');
  if (column?.kind !== 'words') throw new Error('the column of ids is missing');
  return [...new BigUint64Array(column.words.buffer, column.words.byteOffset, rows)];
};

const concatenate = (parts: readonly Float64Array[]): Float64Array => {
  const [singlePart] = parts;
  if (singlePart !== undefined && parts.length === 1) return singlePart;
  const concatenated = new Float64Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    concatenated.set(part, offset);
    offset += part.length;
  }
  return concatenated;
};
