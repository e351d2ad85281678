/** Values of each series of a query in a range or step, from one statement over points, which reference series by id */

import { type ProjectScope, projectScopeCondition, projectScopeParameterValues } from '../../queries/project-scope.ts';
import { type Block, decodeBlocks, getNumbers } from '../../queries/promql/fetch/native-blocks.ts';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { hostSeenSinceMs } from './known-series.ts';

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
  readonly asDelta: Float64Array;
  readonly asCumulative: Float64Array;
  readonly coveredMs: Float64Array;
  /** Whether the result was truncated at the limit */
  readonly isCut: boolean;
}

const maxRows = 1_000_000;
const maxSelectedSeries = 100_000;
const hourMs = 3_600_000;

const milliseconds = (column: string): string => `toUnixTimestamp64Milli(${column})`;
const quoteList = (metrics: readonly string[]): string => metrics.map(quoteString).join(', ');

/** Returns the ids of the series of a query if it selects a part of its metrics' series; `undefined` for all series. */
const readSelectedIds = async (reading: Reading, query: CellQuery): Promise<readonly string[] | undefined> => {
  const { metrics, series } = query;
  if (series === undefined) return undefined;
  const rows = await reading.columns.query<{ id: string }>(
    `SELECT DISTINCT toString(series_id) AS id FROM series WHERE tenant_id = {tenant:String} AND metric IN (${quoteList(metrics)})
      AND last_seen >= fromUnixTimestamp64Milli({seen:Int64}, 'UTC') AND (${series.sql}) LIMIT ${maxSelectedSeries + 1}`,
    {
      seen: String(hostSeenSinceMs(Number(query.range.from / 1_000_000n))),
      ...series.parameters,
    },
    { maxResultRows: maxSelectedSeries + 1 },
  );
  return rows.map(({ id }) => id);
};

const pointsCondition = (query: CellQuery, metrics: readonly string[], ids: readonly string[] | undefined): string =>
  `FROM samples WHERE tenant_id = {tenant:String} AND metric IN (${quoteList(metrics)})
      AND samples.timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND samples.timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
      AND received_at >= fromUnixTimestamp64Milli({received:Int64}, 'UTC')${projectScopeCondition(query)}${ids === undefined ? '' : ` AND series_id IN (${ids.slice(0, maxSelectedSeries).join(', ')})`}`;

const selectValues = (increases: string, step: number | undefined): string =>
  `SELECT series_id AS id, toFloat64(bucket) AS bucketMs, ${step === undefined ? 'argMax(value, at)' : 'avgIf(value, isFinite(value))'} AS level,
      maxIf(value, isFinite(value)) AS peak, toFloat64(max(at)) AS atMs, ${increases}`;
// The last point may be a no-value marker, and remote-write ends a series with NaN.
const hasValue = 'HAVING bitAnd(argMax(flags, at), 1) = 0 AND isFinite(level)';

const buildStatement = (query: CellQuery, ids: readonly string[] | undefined): string => {
  const step = query.stepMs;
  const at = milliseconds('samples.timestamp');
  const bucket = step === undefined ? 'toInt64(0)' : `intDiv(${at}, ${step}) * ${step}`;
  const counters = query.metrics.filter((metric) => query.counters.includes(metric));
  const levels = query.metrics.filter((metric) => !query.counters.includes(metric));
  const zeroColumns = ['asDelta', 'asCumulative', 'coveredMs'].map((name) => `toFloat64(0) AS ${name}`).join(', ');
  const levelsSql = `${selectValues(zeroColumns, step)}
    FROM (SELECT series_id, flags, value, ${at} AS at, ${bucket} AS bucket ${pointsCondition(query, levels, ids)}) GROUP BY id, bucket ${hasValue}`;
  const pair = 'before_at != 0 AND isFinite(value) AND isFinite(before)';
  const increases = `sumIf(value, ${pair}) AS asDelta, sumIf(if(value < before, value, value - before), ${pair}) AS asCumulative,
      toFloat64(sumIf(at - before_at, ${pair})) AS coveredMs`;
  // The first point of a series in the range only defines the start of its increase.
  const ofCounters = `${selectValues(increases, step)}
    FROM (SELECT series_id, flags, value, ${at} AS at, ${bucket} AS bucket, lagInFrame(value) OVER earlier AS before, lagInFrame(${at}) OVER earlier AS before_at
      ${pointsCondition(query, counters, ids)}
      WINDOW earlier AS (PARTITION BY metric, series_id ORDER BY samples.timestamp ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)) GROUP BY id, bucket ${hasValue}`;
  const parts = [...(levels.length === 0 ? [] : [levelsSql]), ...(counters.length === 0 ? [] : [ofCounters])];
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
    ...projectScopeParameterValues(query),
  };
};

/** Returns the values of the series of a query. */
export const readStepRows = async (reading: Reading, query: CellQuery): Promise<StepRows> => {
  const chosen = await readSelectedIds(reading, query);
  const isNone = chosen?.length === 0;
  const limits = { maxResultRows: maxRows + 1 };
  const blocks = isNone
    ? []
    : decodeBlocks(await reading.columns.native(buildStatement(query, chosen), buildParameters(query), limits));
  const numbers = (name: string): Float64Array => concatenate(blocks.map((block) => getNumbers(block, name)));
  const ids = blocks.flatMap(readIds);
  return {
    ids,
    bucketMs: numbers('bucketMs'),
    level: numbers('level'),
    peak: numbers('peak'),
    atMs: numbers('atMs'),
    asDelta: numbers('asDelta'),
    asCumulative: numbers('asCumulative'),
    coveredMs: numbers('coveredMs'),
    isCut: ids.length > maxRows || (chosen?.length ?? 0) > maxSelectedSeries,
  };
};

const readIds = ({ columns, rows }: Block): bigint[] => {
  const column = columns.get('id');
  if (column?.kind !== 'words') throw new Error('the column of ids is missing');
  return [...new BigUint64Array(column.words.buffer, column.words.byteOffset, rows)];
};

const concatenate = (parts: readonly Float64Array[]): Float64Array => {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const all = new Float64Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};
