/** Over which windows a query is evaluated, and which points it reads for them. */
import type { QueryContext } from '../answer.ts';
import { secondsIn, stepsOf } from '../steps.ts';
import { formatTime } from '../time.ts';

/** Windows beside each other, from the first to the last: the steps of a range, or the range as one. Times are nanoseconds. */
export interface Windows {
  readonly from: bigint;
  readonly to: bigint;
  /** Beginning of the first window, which may lie before the range. */
  readonly begin: bigint;
  readonly width: bigint;
  readonly count: number;
  /** Starts in epoch milliseconds. */
  readonly starts: readonly number[];
  /** Starts of those that the range covers only in part. */
  readonly partial: readonly number[];
  /** How long a value holds while no other comes, as Prometheus has it. */
  readonly hold: bigint;
  /** How far before the range the point may lie of which the value holds into it. */
  readonly holdBefore: bigint;
  /** How far before the range the point may lie that a counter's increase is counted from. */
  readonly lookback: bigint;
  /** Seconds of a window that lie in the range. */
  secondsOf(index: number): number;
}

const minute = 60_000_000_000n;
const hold = 5n * minute;
const maxLookback = 60n * minute;
/** No clock runs further ahead than this: received before that, a point cannot lie in the range. */
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

/** SQL of the windows, over columns of nanoseconds. */
export const windowSql = ({ from, to, begin, width, count, hold }: Windows) => {
  /** The window of a time that is not before the range. */
  const indexOf = (time: string): string => `intDiv(${time} - ${int(begin)}, ${int(width)})`;
  const startOf = (index: string): string => `(${int(begin)} + ${index} * ${int(width)})`;
  return {
    indexOf,
    /** Whether a time is not before the range. */
    isWithin: (time: string): string => `${time} >= ${int(from)}`,
    /** Whether it took longer than a window. */
    isLong: (start: string, end: string): string => `${end} - ${start} > ${int(width)}`,
    /**
     * Windows and the parts of them that something belongs to that came about after `start` and was seen at `end`: the window `own`, in
     * which it was seen, unless that is -1, because it took longer than a window; then it is spread evenly over that time.
     */
    shares: (start: string, end: string, own: string): string =>
      `if(${own} >= 0, [(${own}, toFloat64(1))],
        arrayMap(k -> (k, (least(${startOf('k')} + ${int(width)}, ${end}) - greatest(${startOf('k')}, ${start}, ${int(from)})) / (${end} - ${start})),
          range(${indexOf(`greatest(${start}, ${int(from)})`)}, if(${own} >= 0, ${int(0)}, ${indexOf(end)} + 1))))`,
    /** Windows in which a value is the newest: from its own to before that of the next value, for as long as it holds. No next one is 0. */
    holding: (time: string, next: string): string =>
      `range(${indexOf(`greatest(${time}, ${int(from)})`)}, 1 + least(
        multiIf(${next} = 0, ${int(count - 1)}, ${next} < ${int(from)}, ${int(-1)}, ${indexOf(next)} - 1),
        if(${time} + ${int(hold)} > ${int(to)}, ${int(count - 1)},
          greatest(if(${time} < ${int(from)}, ${int(-1)}, ${indexOf(time)}), intDiv(greatest(${time} + ${int(hold)} - ${int(begin)}, ${int(0)}), ${int(width)}) - 1))))`,
  };
};

/** Points of which tables a statement reads. */
export interface PointSource {
  readonly table: 'samples' | 'histograms' | 'summaries';
  readonly metrics: readonly string[];
  readonly ids: readonly string[];
}

/** Points lie by the day on which they were received. */
const dayOf = (time: bigint): string => formatTime(time).slice(0, 10).replaceAll('-', '');

/** The condition of points by series and time, `before` nanoseconds before the range too; and its parameters. */
export const pointsCondition = ({ table, ids }: PointSource, { from, to }: Windows, before: bigint): string =>
  `tenant_id = {tenant:String} AND metric IN {metrics:Array(String)} AND series_id IN (${ids.join(', ')})
    AND ${table}.timestamp >= fromUnixTimestamp64Nano(${int(from - before)}, 'UTC') AND ${table}.timestamp <= fromUnixTimestamp64Nano(${int(to)}, 'UTC')
    AND _partition_id >= '${dayOf(from - before - clockSkewNs)}'`;
