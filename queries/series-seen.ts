/**
 * Which series may have points in a range, as the rows of `series` tell it: each hour of points is told by one, however late they came. Points
 * of clocks that run ahead count for the hour in which they came.
 */
import { seriesRowEveryMs } from '../schemas/tables/metrics.ts';
import type { Range } from './range.ts';

/** The earliest row (milliseconds since the epoch) of a series that has points since a time. */
export const seenSinceMs = (fromMs: number): number => Math.max(0, Math.floor(fromMs) - seriesRowEveryMs);

/** Rows of `series`, under that name in the statement, that tell of points in a range; takes `seriesSeenValues`. */
export const seriesSeen =
  "(series.last_seen >= fromUnixTimestamp64Milli({seenFrom:Int64}, 'UTC') AND series.first_seen <= fromUnixTimestamp64Milli({seenTo:Int64}, 'UTC'))";

export const seriesSeenValues = ({ from, to }: Range): { readonly seenFrom: string; readonly seenTo: string } => ({
  seenFrom: String(seenSinceMs(Number(from / 1_000_000n))),
  seenTo: String(Number(to / 1_000_000n) + seriesRowEveryMs),
});
