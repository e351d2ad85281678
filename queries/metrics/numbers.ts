/**
 * SQL of the value of each series in each window. Columns: `series_id`, window `w`, value `a`, the divisor `b` for
 * averages of histograms, and the number of `points` read. Column `i` is the exact integer if a double cannot represent
 * it, otherwise 0. The README describes the functions.
 */
import type { MetricQuery } from '../query.ts';
import { buildWindowSql, type PointSource, pointsCondition, type Windows } from './windows.ts';

/** Source of the numbers of a series. */
export interface NumberSource {
  readonly source: PointSource;
  /** SQL of the value, a double. */
  readonly value: string;
  /** SQL of the value as an integer if a double cannot represent it; otherwise 0. */
  readonly integer: string;
  /** SQL of the value by which averages are divided: the count, if the value is a sum. */
  readonly divisor?: string;
  /** SQL of a value that decreases only when the counter restarts. */
  readonly counter: string;
  /** SQL of the points with the value; all points without it. */
  readonly condition?: string;
}

export const createSampleSource = (source: PointSource): NumberSource => ({
  source,
  value: 'samples.value',
  integer: 'samples.integer',
  counter: 'samples.value',
});

/** Returns the SQL of the number or sum of observations in histograms and summaries. */
export const createObservationSource = (source: PointSource, overTime: MetricQuery['overTime']): NumberSource => {
  const count = `toFloat64(${source.table}.count)`;
  const sum = `ifNull(${source.table}.sum, nan)`;
  return {
    source,
    value: overTime === 'sum' || overTime === 'avg' ? sum : count,
    integer: 'toInt64(0)',
    ...(overTime === 'avg' ? { divisor: count } : {}),
    counter: count,
  };
};

const isStale = 'bitAnd(flags, 1) = 1';
const nanosecondsSql = (column: string): string => `toUnixTimestamp64Nano(${column})`;

/**
 * Returns SQL of functions of the points in a window. Minimum, maximum and quantile omit NaN if there is another value,
 * as in Prometheus.
 */
const windowAggregateSql = (
  aggregateFunction: 'avg' | 'min' | 'max' | 'sum' | 'count' | 'quantile',
  quantile: number,
): readonly [value: string, integer: string] => {
  const numbers = 'NOT isNaN(v)';
  switch (aggregateFunction) {
    case 'min':
    case 'max':
      return [
        `if(countIf(${numbers}) = 0, nan, ${aggregateFunction}If(v, ${numbers}))`,
        `${aggregateFunction}If(x, x != 0)`,
      ];
    case 'quantile':
      return [`if(countIf(${numbers}) = 0, nan, quantileExactInclusiveIf(${quantile})(v, ${numbers}))`, 'toInt64(0)'];
    case 'count':
      return ['toFloat64(count())', 'toInt64(0)'];
    default:
      return [`${aggregateFunction}(v)`, 'if(count() = 1, any(x), 0)'];
  }
};

/** Aggregates the points of each window. */
export const buildPointsInWindowsSql = (
  { source, value, integer }: NumberSource,
  windows: Windows,
  aggregateFunction: Parameters<typeof windowAggregateSql>[0],
  /**
   * `isInOrder`: doubles are added in the order of time, so that the sum does not depend on other series in the
   * statement.
   */
  { quantile = 0, isInOrder = false }: { readonly quantile?: number; readonly isInOrder?: boolean } = {},
): string => {
  const [aggregateSql, i] = windowAggregateSql(aggregateFunction, quantile);
  const valuesInTimeOrder = 'arrayMap(p -> p.2, arraySort(groupArray((t, v))))';
  const isOrderedSum = isInOrder && (aggregateFunction === 'avg' || aggregateFunction === 'sum');
  const a = isOrderedSum
    ? `${aggregateFunction === 'avg' ? 'arrayAvg' : 'arraySum'}(${valuesInTimeOrder})`
    : aggregateSql;
  return `SELECT series_id, w, ${a} AS a, toFloat64(0) AS b, ${i} AS i, count() AS points FROM (
    SELECT series_id, ${nanosecondsSql(`${source.table}.timestamp`)} AS t, ${buildWindowSql(windows).indexOf(nanosecondsSql(`${source.table}.timestamp`))} AS w, ${value} AS v, ${integer} AS x
    FROM ${source.table} WHERE ${pointsCondition(source, windows, 0n)} AND NOT ${isStale}) GROUP BY series_id, w`;
};

/**
 * Returns SQL of the newest value at the end of each window. Only the newest point of a window matters, including
 * points before the range.
 */
export const buildNewestInWindowsSql = (
  { source, value, integer, condition }: NumberSource,
  windows: Windows,
): string => {
  const { validWindowsSql, indexOf, isInRangeSql } = buildWindowSql(windows);
  return `SELECT series_id, arrayJoin(${validWindowsSql('t', 'next')}) AS w, v AS a, toFloat64(0) AS b, x AS i, seen AS points FROM (
    SELECT series_id, t, newest.1 AS v, newest.2 AS x, newest.3 AS stale, seen,
      leadInFrame(t) OVER (PARTITION BY series_id ORDER BY t ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS next
    FROM (
      SELECT series_id, max(time) AS t, argMax(tuple(v, x, stale), time) AS newest, count() AS seen FROM (
        SELECT series_id, ${nanosecondsSql(`${source.table}.timestamp`)} AS time, ${value} AS v, ${integer} AS x, ${isStale} AS stale
        FROM ${source.table} WHERE ${pointsCondition(source, windows, windows.staleLookbackNs)}${condition === undefined ? '' : ` AND (${condition} OR ${isStale})`})
      GROUP BY series_id, if(${isInRangeSql('time')}, ${indexOf('time')}, -1))) WHERE NOT stale`;
};

/**
 * Returns SQL of each point of a cumulative counter together with the previous point (columns `q…`; if `qt` is 0,
 * there is none). Stale markers
 * are not points. Columns: time `t`, start `st`, the selected ones, and the same of the previous point.
 */
export const pairsSql = (source: PointSource, windows: Windows, selected: Readonly<Record<string, string>>): string => {
  const columns = {
    t: nanosecondsSql(`${source.table}.timestamp`),
    st: nanosecondsSql(`${source.table}.start_timestamp`),
    ...selected,
  };
  const columnEntries = Object.entries(columns);
  return `SELECT series_id, ${columnEntries.map(([name, sql]) => `${sql} AS ${name}`).join(', ')},
      ${columnEntries.map(([name, sql]) => `lagInFrame(${sql}) OVER pair AS q${name}`).join(', ')}
    FROM ${source.table} WHERE ${pointsCondition(source, windows, windows.lookback)} AND NOT ${isStale}
    WINDOW pair AS (PARTITION BY series_id ORDER BY timestamp ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)`;
};

/**
 * Returns SQL of whether a counter restarted between two points: its start time is after the previous point, or its
 * value decreased.
 */
export const resetSql = (decreasedSql: string): string => `((st != qst AND st >= qt AND st > 0) OR ${decreasedSql})`;

/** Returns SQL over `pairsSql` of the increase of a cumulative counter, and of its start. */
export const increaseSql = (windows: Windows, decreasedSql: string) => ({
  /**
   * The first point counts from 0 if the counter started within the range; otherwise the previous value is unknown. A
   * start time equal to the point's time means that the real start is unknown.
   */
  isKnown: `multiIf(qt = 0, st < t AND ${buildWindowSql(windows).isInRangeSql('st')}, ${resetSql(decreasedSql)}, st != t, true)`,
  since: `multiIf(qt = 0, st, ${resetSql(decreasedSql)}, greatest(st, qt), qt)`,
  /** Increase from 0, or from the previous value. */
  of: (value: string, before: string, difference = `${value} - ${before}`): string =>
    `if(qt = 0 OR ${resetSql(decreasedSql)}, ${value}, ${difference})`,
});

/**
 * Returns SQL of the difference of two values, or of whether they decreased. Integers beyond the precision of doubles
 * are subtracted as integers, because the difference may be small.
 */
const exactDifferenceSql = (toIncreaseSql: 'value' | 'fell'): string => {
  const integerSql = (prefix: string): string => `if(${prefix}x != 0, ${prefix}x, toInt64(${prefix}v))`;
  return toIncreaseSql === 'value'
    ? `if(x != 0 OR qx != 0, toFloat64(${integerSql('')} - ${integerSql('q')}), v - qv)`
    : `if(x != 0 OR qx != 0, ${integerSql('')} < ${integerSql('q')}, v < qv)`;
};

/**
 * Returns SQL of the part of an increase (`grown`) up to an elapsed share of its time, as a decimal with at most ten
 * significant digits. So the parts of several windows add up to the increase, also if they were read separately.
 */
const roundedShareSql = (share: string): string => {
  const scale = 'intExp10(toUInt8(greatest(0, least(18, 9 - floor(log10(abs(grown)))))))';
  return `if(${share} = 1, grown, round(grown * ${share} * ${scale}) / ${scale})`;
};

/**
 * Returns SQL of the increase of counters in each window. Counter resets are handled, and an increase over more than
 * one window is spread over its time.
 */
export const buildIncreaseSql = (
  { source, value, integer, counter, divisor }: NumberSource,
  windows: Windows,
  temporality: 'cumulative' | 'delta',
): string => {
  const { indexOf, isLongerSql, isInRangeSql, elapsedSharesSql } = buildWindowSql(windows);
  const selected = {
    v: value,
    x: integer,
    ...(counter === value ? {} : { c: counter }),
    ...(divisor === undefined || divisor === counter ? {} : { d: divisor }),
  };
  const c = counter === value ? 'v' : 'c';
  const d = divisor === counter ? c : 'd';
  const {
    isKnown,
    since,
    of: expression,
  } = increaseSql(windows, counter === value ? exactDifferenceSql('fell') : `${c} < q${c}`);
  // A delta declares its own start; a duplicate counts once.
  const increaseColumns =
    temporality === 'delta'
      ? { known: 't != qt', since: 'if(st > 0 AND st < t, st, t)', value: 'v', divisor: d }
      : {
          known: isKnown,
          since,
          value: expression('v', 'qv', exactDifferenceSql('value')),
          divisor: expression(d, `q${d}`),
        };
  // Increases within one window are added first, so that few rows remain to be spread over several windows. Keys are
  // numbers, because tuple keys cost several times as much.
  return `SELECT series_id, w, sum(${roundedShareSql('until')} - ${roundedShareSql('since')}) AS a, sum((until - since) * divided) AS b, toInt64(0) AS i, sum(seen) AS points FROM (
    SELECT series_id, grown, divided, seen, arrayJoin(${elapsedSharesSql('begun', 'ended', 'own')}) AS share, share.1 AS w, share.2 AS since, share.3 AS until FROM (
      SELECT series_id, own, begun, ended, sum(more) AS grown, sum(divisor) AS divided, count() AS seen FROM (
        SELECT series_id, ${increaseColumns.value} AS more, ${divisor === undefined ? 'toFloat64(0)' : increaseColumns.divisor} AS divisor,
          if(${isLongerSql('t0', 't')}, t0, toInt64(0)) AS begun, if(${isLongerSql('t0', 't')}, t, toInt64(0)) AS ended, if(${isLongerSql('t0', 't')}, -1, ${indexOf('t')}) AS own
        FROM (SELECT *, ${increaseColumns.since} AS t0 FROM (${pairsSql(source, windows, selected)}) WHERE ${isInRangeSql('t')} AND ${increaseColumns.known}))
      GROUP BY series_id, own, begun, ended))
    GROUP BY series_id, w`;
};
