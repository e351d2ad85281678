/**
 * Finds series that may have points in a range, by the rows of the table `series`. Each hour with points has a row,
 * even if the points arrived late. A point from a clock that is ahead counts for the hour in which it was received.
 */
import { seriesRowIntervalMs } from '../schemas/tables/metrics.ts';
import type { Range } from './range.ts';

/**
 * Returns the earliest time (milliseconds since the epoch) of a row of a series that may have points since `fromMs`.
 */
export const getEarliestRowMs = (fromMs: number): number => Math.max(0, Math.floor(fromMs) - seriesRowIntervalMs);

/**
 * Condition for rows of `series` (the name of the table in the statement) with points in a range. Its parameters are
 * `toSeriesSeenParameters`.
 */
export const seriesSeenCondition =
  "(series.last_seen >= fromUnixTimestamp64Milli({seenFrom:Int64}, 'UTC') AND series.first_seen <= fromUnixTimestamp64Milli({seenTo:Int64}, 'UTC'))";

export const toSeriesSeenParameters = ({
  from,
  to,
}: Range): { readonly seenFrom: string; readonly seenTo: string } => ({
  seenFrom: String(getEarliestRowMs(Number(from / 1_000_000n))),
  seenTo: String(Number(to / 1_000_000n) + seriesRowIntervalMs),
});
