/** Windows over which a query is evaluated, and the SQL of the points that they need. */
import type { QueryContext } from '../query-result.ts';
import { buildSteps, getRangeSeconds } from '../steps.ts';
import { formatTime } from '../time.ts';

/** Adjacent windows, from first to last: the steps of a range, or the entire range. Times are in nanoseconds. */
export interface Windows {
  readonly from: bigint;
  readonly to: bigint;
  /** Start of the first window, which may be before the range. */
  readonly firstStart: bigint;
  readonly lengthNs: bigint;
  readonly count: number;
  /** Starts in epoch milliseconds. */
  readonly starts: readonly number[];
  /** Starts of the windows that the range covers only partly. */
  readonly partial: readonly number[];
  /** How long a value stays valid without a newer one, as in Prometheus. */
  readonly staleAfterNs: bigint;
  /** Maximum distance before the range of a point whose value is still valid in it. */
  readonly staleLookbackNs: bigint;
  /** Maximum distance before the range of the point from which a counter's increase is counted. */
  readonly lookback: bigint;
  /** Returns the seconds of a window within the range. */
  getSeconds(index: number): number;
}

const minuteNs = 60_000_000_000n;
const staleAfterNs = 5n * minuteNs;
const maxLookbackNs = 60n * minuteNs;
/** Maximum clock skew of senders: a point that was received more than this before the range cannot be in the range. */
const clockSkewNs = 24n * 60n * minuteNs;

export const createWindows = ({
  range,
  stepMs,
  stepsFrom,
  isNewestWithin = false,
  counterLookbackMs = 0,
}: QueryContext): Windows => {
  const { from, to } = range;
  const minLookbackNs = BigInt(counterLookbackMs) * 1_000_000n;
  const staleness = { staleAfterNs, staleLookbackNs: isNewestWithin ? 0n : staleAfterNs };
  if (stepMs === undefined) {
    const lengthNs = to - from + 1n;
    return {
      from,
      to,
      firstStart: from,
      lengthNs,
      count: 1,
      starts: [Number(from / 1_000_000n)],
      partial: [],
      ...staleness,
      lookback: computeCounterLookbackNs(lengthNs, minLookbackNs),
      getSeconds: () => getRangeSeconds(range),
    };
  }
  const {
    beginNs: firstStart,
    stepNs: lengthNs,
    count,
    starts,
    partial,
    getSeconds,
  } = buildSteps(range, stepMs, stepsFrom);
  return {
    from,
    to,
    firstStart,
    lengthNs,
    count,
    starts,
    partial,
    ...staleness,
    lookback: computeCounterLookbackNs(lengthNs, minLookbackNs),
    getSeconds: getSeconds,
  };
};

const computeCounterLookbackNs = (lengthNs: bigint, minLookbackNs: bigint): bigint => {
  const lookbackNs = lengthNs < minLookbackNs ? minLookbackNs : lengthNs;
  return lookbackNs < staleAfterNs ? staleAfterNs : lookbackNs > maxLookbackNs ? maxLookbackNs : lookbackNs;
};

const int64Sql = (value: bigint | number): string => `toInt64('${value}')`;

/** Returns SQL of the windows, over columns of nanoseconds. */
export const buildWindowSql = ({ from, to, firstStart, lengthNs, count, staleAfterNs }: Windows) => {
  /** Index of the window of a time that is not before the range. */
  const windowIndexSql = (time: string): string => `intDiv(${time} - ${int64Sql(firstStart)}, ${int64Sql(lengthNs)})`;
  const windowStartSql = (index: string): string => `(${int64Sql(firstStart)} + ${index} * ${int64Sql(lengthNs)})`;
  return {
    indexOf: windowIndexSql,
    /** Whether a time is not before the range. */
    isInRangeSql: (time: string): string => `${time} >= ${int64Sql(from)}`,
    /** Whether the duration exceeds a window. */
    isLongerSql: (start: string, end: string): string => `${end} - ${start} > ${int64Sql(lengthNs)}`,
    /**
     * Windows, with the elapsed shares of an increase between `start` and `end`, at the start and at the end of the
     * window. An increase belongs to the window `own`. If `own` is -1, it took longer than a window and is spread evenly
     * over its time.
     */
    elapsedSharesSql: (start: string, end: string, own: string): string =>
      `if(${own} >= 0, [(${own}, toFloat64(0), toFloat64(1))],
        arrayMap(k -> (k, (greatest(${windowStartSql('k')}, ${start}, ${int64Sql(from)}) - ${start}) / (${end} - ${start}), (least(${windowStartSql('k')} + ${int64Sql(lengthNs)}, ${end}) - ${start}) / (${end} - ${start})),
          range(${windowIndexSql(`greatest(${start}, ${int64Sql(from)})`)}, if(${own} >= 0, ${int64Sql(0)}, ${windowIndexSql(end)} + 1))))`,
    /**
     * Windows in which a value is the newest one and still valid: from its own window to the one before the next value.
     * A `next` of 0 means that there is no next value.
     */
    validWindowsSql: (time: string, next: string): string =>
      `range(${windowIndexSql(`greatest(${time}, ${int64Sql(from)})`)}, 1 + least(
        multiIf(${next} = 0, ${int64Sql(count - 1)}, ${next} < ${int64Sql(from)}, ${int64Sql(-1)}, ${windowIndexSql(next)} - 1),
        if(${time} + ${int64Sql(staleAfterNs)} > ${int64Sql(to)}, ${int64Sql(count - 1)},
          greatest(if(${time} < ${int64Sql(from)}, ${int64Sql(-1)}, ${windowIndexSql(time)}), intDiv(greatest(${time} + ${int64Sql(staleAfterNs)} - ${int64Sql(firstStart)}, ${int64Sql(0)}), ${int64Sql(lengthNs)}) - 1))))`,
  };
};

/** Tables of points that a statement reads. */
export interface PointSource {
  readonly table: 'samples' | 'histograms' | 'summaries';
  readonly metrics: readonly string[];
  readonly ids: readonly string[];
}

/** Points are stored by the day of their reception. */
const formatPartitionDay = (time: bigint): string => formatTime(time).slice(0, 10).replaceAll('-', '');

/**
 * Returns the condition of points by series and time, including `before` nanoseconds before the range, and its
 * parameters.
 */
export const pointsCondition = ({ table, ids }: PointSource, { from, to }: Windows, before: bigint): string =>
  `tenant_id = {tenant:String} AND metric IN {metrics:Array(String)} AND series_id IN (${ids.join(', ')})
    AND ${table}.timestamp >= fromUnixTimestamp64Nano(${int64Sql(from - before)}, 'UTC') AND ${table}.timestamp <= fromUnixTimestamp64Nano(${int64Sql(to)}, 'UTC')
    AND _partition_id >= '${formatPartitionDay(from - before - clockSkewNs)}'`;
