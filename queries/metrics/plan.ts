/** Plan of a metric query, and the reading of its series in parts within limits. */
import { createValidationError } from '../errors.ts';
import type { MetricQuery } from '../query.ts';
import type { Incompleteness } from '../result.ts';
import type { TenantReader } from '../tenant-reader.ts';
import type { Cell } from './cells.ts';
import type { SeriesRead } from './kinds.ts';
import { maxSeries, type SelectedSeries } from './selection.ts';
import type { PointSource, Windows } from './windows.ts';

/** Limits of one query. */
export interface MetricLimits {
  readonly series: number;
  /** Maximum number of points that are read; further points are omitted, which the result reports. */
  readonly points: number;
  /** Maximum number of values (by group and window) in memory while they are combined. */
  readonly cells: number;
  /** Values in the result. */
  readonly resultValues: number;
  /** Time after which no further points are read. */
  readonly milliseconds: number;
}

export const metricLimits: MetricLimits = {
  series: maxSeries,
  points: 150_000_000,
  cells: 12_000_000,
  resultValues: 250_000,
  milliseconds: 30_000,
};

/** A group of series, with its label names and values. */
export interface Group {
  readonly labels: Readonly<Record<string, string>>;
  readonly members: number[];
}

/** The series of a query, the group of each, and the windows. */
export interface MetricPlan {
  readonly query: MetricQuery;
  readonly reader: TenantReader;
  readonly windows: Windows;
  readonly series: readonly SelectedSeries[];
  readonly groups: readonly Group[];
  readonly groupIndexes: readonly number[];
  readonly limits: MetricLimits;
  readonly deadline: number;
  readonly partial: Incompleteness[];
}

/** Returns the value of a group in a window. */
export type ReadValue = (group: number, window: number) => Cell;

/** Maximum number of points in one statement, which holds them in memory while sorting. */
const maxPointsPerStatement = { samples: 2_000_000, histograms: 200_000, summaries: 1_000_000 } as const;
/** Assumed interval of points until the real one is measured; few series have a shorter interval. */
const defaultIntervalNs = 5_000_000_000n;

/**
 * Reads series in parts, so that no statement reads too much; `read` receives the indexes of series. At a limit, stops
 * and adds the reason to `partial`.
 */
export const readInParts = async (
  { series, windows, limits, deadline, partial }: MetricPlan,
  { table, members }: SeriesRead,
  pointCounter: { readonly points: number },
  read: (source: PointSource, partMembers: { readonly members: readonly number[] }) => Promise<void>,
): Promise<void> => {
  let pointsPerSeries = Math.max(1, Number((windows.to - windows.from + windows.lookback) / defaultIntervalNs));
  const initialPoints = pointCounter.points;
  for (let offset = 0; offset < members.length; ) {
    const reachedLimit = findReachedLimit(pointCounter.points, { limits, deadline });
    if (reachedLimit !== undefined) {
      const remaining = members.length - offset;
      partial.push({
        ...reachedLimit,
        message: `${reachedLimit.message}: ${remaining} of ${members.length} series are not counted; use a shorter range or a search`,
      });
      return;
    }
    const partMembers = members.slice(
      offset,
      offset + Math.max(1, Math.floor(maxPointsPerStatement[table] / pointsPerSeries)),
    );
    const partSeries = partMembers.map((member) => series[member] as SelectedSeries);
    await read(
      { table, metrics: [...new Set(partSeries.map(({ metric }) => metric))], ids: partSeries.map(({ id }) => id) },
      { members: partMembers },
    );
    offset += partMembers.length;
    pointsPerSeries = Math.max(1, ((pointCounter.points - initialPoints) / offset) * 1.2);
  }
};

const findReachedLimit = (
  points: number,
  { limits, deadline }: Pick<MetricPlan, 'limits' | 'deadline'>,
): Incompleteness | undefined => {
  if (points >= limits.points) return { code: 'points', message: `the range has more than ${limits.points} points` };
  if (performance.now() > deadline)
    return { code: 'time', message: `reading took ${limits.milliseconds / 1000} seconds` };
  return undefined;
};

/** Throws if this many groups have too many values to combine. */
export const requireCells = (groups: number, windows: Windows, limits: MetricLimits): void => {
  if (groups * windows.count > limits.cells)
    throw createValidationError(
      'groupBy',
      `gives ${groups} groups in ${windows.count} steps, but at most ${limits.cells} values can be combined: use a larger step, fewer groups or a search`,
    );
};
