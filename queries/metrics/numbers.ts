/**
 * What each series says in each window, as SQL: `series_id`, window `w`, value `a`, for averages of histograms the divisor `b`, the exact
 * integer `i` where a double cannot hold it (else 0), and `points` read. The README says what the functions mean.
 */
import type { MetricQuery } from '../query.ts';
import { type PointSource, pointsCondition, type Windows, windowSql } from './windows.ts';

/** Where the numbers of a series lie. */
export interface Numbers {
  readonly source: PointSource;
  /** SQL of the value, a double. */
  readonly value: string;
  /** Of the value again where it is an integer that a double cannot hold; else 0. */
  readonly integer: string;
  /** Another value that grows with it: the count, where the value is a sum. */
  readonly divisor?: string;
  /** Of whatever falls only when the counter begins anew. */
  readonly counter: string;
  /** Of the points that have the value; without it, all of them. */
  readonly condition?: string;
}

export const samplesOf = (source: PointSource): Numbers => ({
  source,
  value: 'samples.value',
  integer: 'samples.integer',
  counter: 'samples.value',
});

/** Number and sum of the observations that histograms and summaries are of. */
export const observationsOf = (source: PointSource, overTime: MetricQuery['overTime']): Numbers => {
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
const nanosecondsOf = (column: string): string => `toUnixTimestamp64Nano(${column})`;

/** Functions of the points of a window by themselves. NaN is left out of minimum, maximum and quantile while there is another value, as Prometheus does. */
const plain = (
  function_: 'avg' | 'min' | 'max' | 'sum' | 'count' | 'quantile',
  quantile: number,
): readonly [value: string, integer: string] => {
  const numbers = 'NOT isNaN(v)';
  switch (function_) {
    case 'min':
    case 'max':
      return [`if(countIf(${numbers}) = 0, nan, ${function_}If(v, ${numbers}))`, `${function_}If(x, x != 0)`];
    case 'quantile':
      return [`if(countIf(${numbers}) = 0, nan, quantileExactInclusiveIf(${quantile})(v, ${numbers}))`, 'toInt64(0)'];
    case 'count':
      return ['toFloat64(count())', 'toInt64(0)'];
    default:
      return [`${function_}(v)`, 'if(count() = 1, any(x), 0)'];
  }
};

/** Points of each window by themselves. */
export const pointsInWindows = (
  { source, value, integer }: Numbers,
  windows: Windows,
  function_: Parameters<typeof plain>[0],
  /** `isInOrder`: doubles are added up in the order of time, so that the sum is the same whatever is read beside them. */
  { quantile = 0, isInOrder = false }: { readonly quantile?: number; readonly isInOrder?: boolean } = {},
): string => {
  const [given, i] = plain(function_, quantile);
  const added = 'arrayMap(p -> p.2, arraySort(groupArray((t, v))))';
  const isAdded = isInOrder && (function_ === 'avg' || function_ === 'sum');
  const a = isAdded ? `${function_ === 'avg' ? 'arrayAvg' : 'arraySum'}(${added})` : given;
  return `SELECT series_id, w, ${a} AS a, toFloat64(0) AS b, ${i} AS i, count() AS points FROM (
    SELECT series_id, ${nanosecondsOf(`${source.table}.timestamp`)} AS t, ${windowSql(windows).indexOf(nanosecondsOf(`${source.table}.timestamp`))} AS w, ${value} AS v, ${integer} AS x
    FROM ${source.table} WHERE ${pointsCondition(source, windows, 0n)} AND NOT ${isStale}) GROUP BY series_id, w`;
};

/** The newest value at the end of each window. Of a window only its newest point matters, and of what lies before the range too. */
export const newestInWindows = ({ source, value, integer, condition }: Numbers, windows: Windows): string => {
  const { holding, indexOf, isWithin } = windowSql(windows);
  return `SELECT series_id, arrayJoin(${holding('t', 'next')}) AS w, v AS a, toFloat64(0) AS b, x AS i, seen AS points FROM (
    SELECT series_id, t, newest.1 AS v, newest.2 AS x, newest.3 AS stale, seen,
      leadInFrame(t) OVER (PARTITION BY series_id ORDER BY t ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS next
    FROM (
      SELECT series_id, max(time) AS t, argMax(tuple(v, x, stale), time) AS newest, count() AS seen FROM (
        SELECT series_id, ${nanosecondsOf(`${source.table}.timestamp`)} AS time, ${value} AS v, ${integer} AS x, ${isStale} AS stale
        FROM ${source.table} WHERE ${pointsCondition(source, windows, windows.holdBefore)}${condition === undefined ? '' : ` AND (${condition} OR ${isStale})`})
      GROUP BY series_id, if(${isWithin('time')}, ${indexOf('time')}, -1))) WHERE NOT stale`;
};

/**
 * Each point of a cumulative counter beside the one before it (`q…`; none is a `qt` of 0). Stale markers are no points. Columns: time `t`, start
 * `st`, whatever is selected, and the same of the point before.
 */
export const pairs = (source: PointSource, windows: Windows, selected: Readonly<Record<string, string>>): string => {
  const columns = {
    t: nanosecondsOf(`${source.table}.timestamp`),
    st: nanosecondsOf(`${source.table}.start_timestamp`),
    ...selected,
  };
  const each = Object.entries(columns);
  return `SELECT series_id, ${each.map(([name, sql]) => `${sql} AS ${name}`).join(', ')},
      ${each.map(([name, sql]) => `lagInFrame(${sql}) OVER pair AS q${name}`).join(', ')}
    FROM ${source.table} WHERE ${pointsCondition(source, windows, windows.lookback)} AND NOT ${isStale}
    WINDOW pair AS (PARTITION BY series_id ORDER BY timestamp ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)`;
};

/** Whether a counter began anew between two points: it starts after the one before, or `fell`. */
export const isReset = (fell: string): string => `((st != qst AND st >= qt AND st > 0) OR ${fell})`;

/** SQL over `pairs` of what counts as the increase of a cumulative counter, and since when. */
export const increaseOf = (windows: Windows, fell: string) => ({
  /**
   * A first point counts from 0 if the counter started within the range, else nothing is known of what came before it. A start at the
   * point's own time says that the true one is unknown.
   */
  isKnown: `multiIf(qt = 0, st < t AND ${windowSql(windows).isWithin('st')}, ${isReset(fell)}, st != t, true)`,
  since: `multiIf(qt = 0, st, ${isReset(fell)}, greatest(st, qt), qt)`,
  /** From 0, or from the value before. */
  of: (value: string, before: string, difference = `${value} - ${before}`): string =>
    `if(qt = 0 OR ${isReset(fell)}, ${value}, ${difference})`,
});

/** Integers beyond doubles are subtracted as integers: the difference may be small. */
const exactly = (of: 'value' | 'fell'): string => {
  const whole = (prefix: string): string => `if(${prefix}x != 0, ${prefix}x, toInt64(${prefix}v))`;
  return of === 'value'
    ? `if(x != 0 OR qx != 0, toFloat64(${whole('')} - ${whole('q')}), v - qv)`
    : `if(x != 0 OR qx != 0, ${whole('')} < ${whole('q')}, v < qv)`;
};

/** By how much counters grew in each window: resets counted, what took longer than a window spread over its time. */
export const increaseInWindows = (
  { source, value, integer, counter, divisor }: Numbers,
  windows: Windows,
  temporality: 'cumulative' | 'delta',
): string => {
  const { indexOf, isLong, isWithin, shares } = windowSql(windows);
  const selected = {
    v: value,
    x: integer,
    ...(counter === value ? {} : { c: counter }),
    ...(divisor === undefined || divisor === counter ? {} : { d: divisor }),
  };
  const c = counter === value ? 'v' : 'c';
  const d = divisor === counter ? c : 'd';
  const { isKnown, since, of } = increaseOf(windows, counter === value ? exactly('fell') : `${c} < q${c}`);
  // A delta says by itself since when it counts; the same one again counts once.
  const steps =
    temporality === 'delta'
      ? { known: 't != qt', since: 'if(st > 0 AND st < t, st, t)', value: 'v', divisor: d }
      : { known: isKnown, since, value: of('v', 'qv', exactly('value')), divisor: of(d, `q${d}`) };
  // Short ones are added up first, so that few rows are left to be spread. Keys are numbers: those of tuples cost several times as much.
  return `SELECT series_id, w, sum(part * grown) AS a, sum(part * divided) AS b, toInt64(0) AS i, sum(seen) AS points FROM (
    SELECT series_id, grown, divided, seen, arrayJoin(${shares('begun', 'ended', 'own')}) AS share, share.1 AS w, share.2 AS part FROM (
      SELECT series_id, own, begun, ended, sum(more) AS grown, sum(divisor) AS divided, count() AS seen FROM (
        SELECT series_id, ${steps.value} AS more, ${divisor === undefined ? 'toFloat64(0)' : steps.divisor} AS divisor,
          if(${isLong('t0', 't')}, t0, toInt64(0)) AS begun, if(${isLong('t0', 't')}, t, toInt64(0)) AS ended, if(${isLong('t0', 't')}, -1, ${indexOf('t')}) AS own
        FROM (SELECT *, ${steps.since} AS t0 FROM (${pairs(source, windows, selected)}) WHERE ${isWithin('t')} AND ${steps.known}))
      GROUP BY series_id, own, begun, ended))
    GROUP BY series_id, w`;
};
