/** Warns about counters whose points come less often than slices end: alerts then see events late. */
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import { parseExpression } from '../../queries/promql/syntax/parse.ts';
import { visitExpressions } from '../../queries/promql/syntax/tree.ts';
import { getPromql } from '../../queries/query-kind.ts';
import { formatDuration, parseDurationMs } from '../alerts/durations.ts';
import type { SloFields } from './document.ts';
import { listLeafQueries, readExpressionMetrics } from './late-records.ts';

/** Functions of PromQL without a value where a range has one point only */
const twoPointFunctions = new Set(
  'rate increase irate delta idelta deriv predict_linear double_exponential_smoothing'.split(' '),
);

/** A call that needs two points of a metric in its range */
interface RangeCall {
  readonly text: string;
  readonly rangeMs: number;
}

/** Returns the calls of an expression that need two points. Modified selectors also read points around their range. */
const listRangeCalls = (expression: string): readonly RangeCall[] => {
  const calls: RangeCall[] = [];
  visitExpressions(parseExpression(expression), (node) => {
    if (node.kind !== 'call' || !twoPointFunctions.has(node.signature.name)) return;
    const range = node.args.find(({ kind }) => kind === 'range');
    if (range?.kind !== 'range' || range.rangeExpression !== undefined) return;
    const { selector, rangeMs } = range;
    if (selector.kind === 'selector' && (selector.anchored || selector.smoothed)) return;
    calls.push({ text: expression.slice(node.start, node.end), rangeMs });
  });
  return calls;
};

/** Time in which points are read: more than two of the longest supported interval. */
const readMs = 3 * 3_600_000;
/** Maximum number of series of each metric that are read. */
const maxSeries = 20;

/** Returns the usual interval of the recent points of metrics, in milliseconds, for those that have at least two. */
const readPointIntervals = async (
  { columns }: Pick<QueryReader, 'columns'>,
  metrics: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, number>> => {
  if (metrics.length === 0) return new Map();
  const rows = await columns.query<{ readonly name: string; readonly interval: number }>(
    `SELECT name, quantileExact(0.5)(step) AS interval FROM (
      SELECT toString(metric) AS name, series_id,
        (toUnixTimestamp64Milli(max(timestamp)) - toUnixTimestamp64Milli(min(timestamp))) / (uniqExact(timestamp) - 1) AS step
      FROM samples WHERE tenant_id = {tenant:String} AND metric IN {metrics:Array(String)}
        AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND timestamp < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
        AND series_id IN (SELECT series_id FROM series WHERE tenant_id = {tenant:String} AND metric IN {metrics:Array(String)}
          AND series.last_seen >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') LIMIT ${maxSeries} BY metric)
      GROUP BY metric, series_id HAVING uniqExact(timestamp) > 1
    ) GROUP BY name`,
    { metrics: [...metrics], from: String(nowMs - readMs), to: String(nowMs) },
  );
  return new Map(rows.map(({ name, interval }) => [name, Number(interval)]));
};

/** Rounds an interval for people: 59.98 s are a minute. */
const formatInterval = (ms: number): string => {
  const unitMs = [3_600_000, 60_000].find((value) => ms >= value) ?? 1000;
  const rounded = Math.max(1000, Math.round(ms / 1000) * 1000);
  const nearest = Math.round(ms / unitMs) * unitMs;
  return formatDuration(Math.abs(nearest - ms) < nearest / 20 ? nearest : rounded);
};

/** Returns the shortest range of the calls that read each metric, in milliseconds. */
const readShortestRanges = async (
  expressions: readonly string[],
  window: Parameters<typeof readExpressionMetrics>[1],
  reader: QueryReader,
): Promise<ReadonlyMap<string, number>> => {
  const ranges = new Map<string, number>();
  for (const { text, rangeMs } of expressions.flatMap(listRangeCalls))
    for (const metric of (await readExpressionMetrics([text], window, reader)) ?? [])
      ranges.set(metric, Math.min(rangeMs, ranges.get(metric) ?? rangeMs));
  return ranges;
};

/**
 * Returns warnings about counters of an SLO whose points come less often than its slices end. Budgets are exact, but
 * alerts see an increase when the next point arrives. In PromQL, an increase needs two points in its own range.
 */
export const findPointIntervalWarnings = async (
  { query: { sli, slice } }: Pick<SloFields, 'query'>,
  reader: QueryReader,
  nowMs: number,
): Promise<string[]> => {
  const sliceMs = parseDurationMs(slice);
  const queries = [sli?.good, sli?.bad, sli?.total, sli?.value].filter((query) => query !== undefined);
  const leafQueries = queries.flatMap(listLeafQueries);
  const counters = leafQueries.flatMap((query) =>
    'metric' in query && (query.overTime === 'increase' || query.overTime === 'rate') ? [query.metric] : [],
  );
  const endMs = Math.floor(nowMs / sliceMs) * sliceMs;
  const window = { fromMs: endMs - sliceMs, toMs: endMs, sliceMs };
  const expressions = leafQueries.flatMap((query) => getPromql(query) ?? []);
  const ranges = await readShortestRanges(expressions, window, reader);
  const intervals = await readPointIntervals(reader, [...new Set([...counters, ...ranges.keys()])], nowMs);
  return [...intervals].flatMap(([metric, intervalMs]) => {
    const points = `points of ${metric} come every ${formatInterval(intervalMs)}`;
    // Intervals vary a little.
    const minMs = intervalMs * 0.95;
    const rangeMs = ranges.get(metric);
    if (rangeMs !== undefined)
      return 2 * minMs > rangeMs
        ? [
            `${points}, a range in PromQL is ${formatDuration(rangeMs)}: an increase needs two points in its range, so slices lack data; use a longer range, and slices as long`,
          ]
        : [];
    return minMs > sliceMs
      ? [
          `${points}, slices are ${slice}: the budget is exact, but alerts see events up to ${formatInterval(intervalMs)} later`,
        ]
      : [];
  });
};
