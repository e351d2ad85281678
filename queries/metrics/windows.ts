/** Windows of a query's evaluation, and the points read for them. */
import type { QueryContext } from '../answer.ts';
import { secondsIn, stepsOf } from '../steps.ts';
import { formatTime } from '../time.ts';

/** Adjacent windows, from first to last: the steps of a range, or the entire range. Times are in nanoseconds. */
export interface Windows {
  readonly from: bigint;
  readonly to: bigint;
  /** Start of the first window, which may be before the range. */
  readonly begin: bigint;
  readonly width: bigint;
  readonly count: number;
  /** Starts in epoch milliseconds. */
  readonly starts: readonly number[];
  /** Starts of the windows that the range covers only partly. */
  readonly partial: readonly number[];
  /** How long a value stays valid without a newer one, as in Prometheus. */
  readonly hold: bigint;
  /** Maximum distance before the range of a point whose value is still valid in it. */
  readonly holdBefore: bigint;
  /** Maximum distance before the range of the point from which a counter's increase is counted. */
  readonly lookback: bigint;
  /** Returns the seconds of a window within the range. */
  secondsOf(index: number): number;
}

const minute = 60_000_000_000n;
const hold = 5n * minute;
const maxLookback = 60n * minute;
/** Maximum clock skew of senders: a point received earlier than this before the range is not in it. */
const clockSkewNs = 24n * 60n * minute;

export const windowsOf = ({ range, stepMs, stepsFrom, isNewestWithin = false }: QueryContext): Windows => {
  const { from, to } = range;
  const holding = { hold, holdBefore: isNewestWithin ? 0n : hold };
  if (stepMs === undefined) {
    const width = to - from + 1n;
    return {
      from,
      to,
      begin: from,
      width,
      count: 1,
      starts: [Number(from / 1_000_000n)],
      partial: [],
      ...holding,
      lookback: lookbackOf(width),
      secondsOf: () => secondsIn(range),
    };
  }
  const { beginNs: begin, stepNs: width, count, starts, partial, secondsOf } = stepsOf(range, stepMs, stepsFrom);
  return { from, to, begin, width, count, starts, partial, ...holding, lookback: lookbackOf(width), secondsOf };
};

const lookbackOf = (width: bigint): bigint => (width < hold ? hold : width > maxLookback ? maxLookback : width);

const int = (value: bigint | number): string => `toInt64('${value}')`;

/** Returns SQL of the windows, over columns of nanoseconds. */
export const windowSql = ({ from, to, begin, width, count, hold }: Windows) => {
  /** Index of the window of a time that is not before the range. */
  const indexOf = (time: string): string => `intDiv(${time} - ${int(begin)}, ${int(width)})`;
  const startOf = (index: string): string => `(${int(begin)} + ${index} * ${int(width)})`;
  return {
    indexOf,
    /** Whether a time is not before the range. */
    isWithin: (time: string): string => `${time} >= ${int(from)}`,
    /** Whether the duration exceeds a window. */
    isLong: (start: string, end: string): string => `${end} - ${start} > ${int(width)}`,
    /**
     * Windows, and their shares of an increase between `start` and `end`: the window `own`, in which it was seen. An
     * `own` of -1 means it took longer than a window and is spread evenly over that time.
     */
    shares: (start: string, end: string, own: string): string =>
      `if(${own} >= 0, [(${own}, toFloat64(1))],
        arrayMap(k -> (k, (least(${startOf('k')} + ${int(width)}, ${end}) - greatest(${startOf('k')}, ${start}, ${int(from)})) / (${end} - ${start})),
          range(${indexOf(`greatest(${start}, ${int(from)})`)}, if(${own} >= 0, ${int(0)}, ${indexOf(end)} + 1))))`,
    /**
     * Windows in which a value is the newest: from its own until before that of the next value, while it is valid. A
     * next value of 0 means none.
     */
    holding: (time: string, next: string): string =>
      `range(${indexOf(`greatest(${time}, ${int(from)})`)}, 1 + least(
        multiIf(${next} = 0, ${int(count - 1)}, ${next} < ${int(from)}, ${int(-1)}, ${indexOf(next)} - 1),
        if(${time} + ${int(hold)} > ${int(to)}, ${int(count - 1)},
          greatest(if(${time} < ${int(from)}, ${int(-1)}, ${indexOf(time)}), intDiv(greatest(${time} + ${int(hold)} - ${int(begin)}, ${int(0)}), ${int(width)}) - 1))))`,
  };
};

/** Tables of points that a statement reads. */
export interface PointSource {
  readonly table: 'samples' | 'histograms' | 'summaries';
  readonly metrics: readonly string[];
  readonly ids: readonly string[];
}

/** Points are stored by the day of their reception. */
const dayOf = (time: bigint): string => formatTime(time).slice(0, 10).replaceAll('-', '');

/**
 * Returns the condition of points by series and time, including `before` nanoseconds before the range, and its
 * parameters.
 */
export const pointsCondition = ({ table, ids }: PointSource, { from, to }: Windows, before: bigint): string =>
  `tenant_id = {tenant:String} AND metric IN {metrics:Array(String)} AND series_id IN (${ids.join(', ')})
    AND ${table}.timestamp >= fromUnixTimestamp64Nano(${int(from - before)}, 'UTC') AND ${table}.timestamp <= fromUnixTimestamp64Nano(${int(to)}, 'UTC')
    AND _partition_id >= '${dayOf(from - before - clockSkewNs)}'`;
