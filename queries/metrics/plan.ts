/** What a metric query evaluates, and how its series are read part by part within limits. */
import { invalid } from '../errors.ts';
import type { MetricQuery } from '../query.ts';
import type { Reading } from '../reading.ts';
import type { Incompleteness } from '../result.ts';
import type { Cell } from './cells.ts';
import type { Reads } from './kinds.ts';
import { maxSeries, type SelectedSeries } from './selection.ts';
import type { PointSource, Windows } from './windows.ts';

/** What one query may read and answer. */
export interface MetricLimits {
  readonly series: number;
  /** Points read; what is beyond is left out, and the answer says so. */
  readonly points: number;
  /** Values of groups by window that are held while they are put together. */
  readonly cells: number;
  /** Values in the answer. */
  readonly answer: number;
  /** After that no further points are read. */
  readonly milliseconds: number;
}

export const metricLimits: MetricLimits = {
  series: maxSeries,
  points: 150_000_000,
  cells: 12_000_000,
  answer: 250_000,
  milliseconds: 30_000,
};

/** A group of series, with the label names and values that make it. */
export interface Group {
  readonly labels: Readonly<Record<string, string>>;
  readonly members: number[];
}

/** What is evaluated: the series, the group of each, and the windows. */
export interface Plan {
  readonly query: MetricQuery;
  readonly reading: Reading;
  readonly windows: Windows;
  readonly series: readonly SelectedSeries[];
  readonly groups: readonly Group[];
  readonly groupOf: readonly number[];
  readonly limits: MetricLimits;
  readonly deadline: number;
  readonly partial: Incompleteness[];
}

/** The value of a group in a window. */
export type Values = (group: number, window: number) => Cell;

/** Points that one statement reads: it holds that many while it puts them in order. */
const pointsInPart = { samples: 2_000_000, histograms: 200_000, summaries: 1_000_000 } as const;
/** Points come hardly more often, until it is seen how often they do. */
const defaultIntervalNs = 5_000_000_000n;

/** Series in parts, so that no statement reads too much at once; `read` is given indexes of series. Stops at the limits, and says so. */
export const inParts = async (
  { series, windows, limits, deadline, partial }: Plan,
  { table, members }: Reads,
  counted: { readonly points: number },
  read: (source: PointSource, part: { readonly members: readonly number[] }) => Promise<void>,
): Promise<void> => {
  let perSeries = Math.max(1, Number((windows.to - windows.from + windows.lookback) / defaultIntervalNs));
  const before = counted.points;
  for (let at = 0; at < members.length; ) {
    const cut = cutAt(counted.points, { limits, deadline });
    if (cut !== undefined) {
      const left = members.length - at;
      partial.push({
        ...cut,
        message: `${cut.message}: ${left} of ${members.length} series are not counted; take a shorter range or a search`,
      });
      return;
    }
    const part = members.slice(at, at + Math.max(1, Math.floor(pointsInPart[table] / perSeries)));
    const own = part.map((member) => series[member] as SelectedSeries);
    await read(
      { table, metrics: [...new Set(own.map(({ metric }) => metric))], ids: own.map(({ id }) => id) },
      { members: part },
    );
    at += part.length;
    perSeries = Math.max(1, ((counted.points - before) / at) * 1.2);
  }
};

const cutAt = (points: number, { limits, deadline }: Pick<Plan, 'limits' | 'deadline'>): Incompleteness | undefined => {
  if (points >= limits.points) return { code: 'points', message: `more than ${limits.points} points lie in the range` };
  if (performance.now() > deadline)
    return { code: 'time', message: `reading took ${limits.milliseconds / 1000} seconds` };
  return undefined;
};

/** Throws where the values of so many groups are too many to be put together. */
export const requireCells = (groups: number, windows: Windows, limits: MetricLimits): void => {
  if (groups * windows.count > limits.cells)
    throw invalid(
      'groupBy',
      `gives ${groups} groups in ${windows.count} steps, at most ${limits.cells} values are put together: take a larger step, fewer groups or a search`,
    );
};
