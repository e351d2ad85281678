/**
 * Finds series that may have points in a range, by the rows of the table `series`. Each hour with points has a row,
 * even if the points arrived late. A point whose clock is ahead counts for the hour of its reception.
 */
import { seriesRowIntervalMs } from '../schemas/tables/metrics.ts';
import type { Range } from './range.ts';

/**
 * Returns the earliest time (milliseconds since the epoch) of a row of a series that may have points since `fromMs`.
 */
export const earliestRowMs = (fromMs: number): number => Math.max(0, Math.floor(fromMs) - seriesRowIntervalMs);

/**
 * Returns the condition on rows of `series`, under that name in the statement, with points in a range; takes
 * `seriesSeenParameters`.
 */
export const seriesSeenCondition =
  "(series.last_seen >= fromUnixTimestamp64Milli({seenFrom:Int64}, 'UTC') AND series.first_seen <= fromUnixTimestamp64Milli({seenTo:Int64}, 'UTC'))";

export const seriesSeenParameters = ({ from, to }: Range): { readonly seenFrom: string; readonly seenTo: string } => ({
  seenFrom: String(earliestRowMs(Number(from / 1_000_000n))),
  seenTo: String(Number(to / 1_000_000n) + seriesRowIntervalMs),
});
