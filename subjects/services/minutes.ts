/** Ranges of full minutes, for tables with counts per minute */
import { z } from 'zod';
import type { Range } from '../../queries/range.ts';
import { formatTime } from '../../queries/time.ts';

const minuteNs = 60_000_000_000n;
export const minuteMs = 60_000;

/** Returns the full minutes that a range overlaps, up to now; `to` is exclusive. */
export const toFullMinutes = ({ from, to }: Range, nowMs: number): { readonly from: bigint; readonly to: bigint } => {
  const fromMinute = from - (((from % minuteNs) + minuteNs) % minuteNs);
  const toMinute = to - (((to % minuteNs) + minuteNs) % minuteNs) + minuteNs;
  const now = BigInt(Math.trunc(nowMs)) * 1_000_000n;
  return { from: fromMinute, to: toMinute > now && now > fromMinute ? now : toMinute };
};

/** Response fields of the minutes */
export const minutesFields = {
  from: z.string().describe('Start of the first counted minute'),
  to: z.string().describe('End of the last counted minute, or now; exclusive'),
} as const;

export const formatMinutes = ({ from, to }: Range): { from: string; to: string } => ({
  from: formatTime(from),
  to: formatTime(to),
});

/** SQL condition of the minutes, for tables whose key contains the hour of `minute` */
export const minutesCondition =
  "minute >= toDateTime({from:Int64}, 'UTC') AND minute <= toDateTime({to:Int64}, 'UTC') AND toStartOfHour(minute) >= toStartOfHour(toDateTime({from:Int64}, 'UTC')) AND toStartOfHour(minute) <= toDateTime({to:Int64}, 'UTC')";

/** Returns the parameters of `minutesCondition`. */
export const toMinutesParameters = ({ from, to }: Range): { from: string; to: string } => ({
  from: String(from / 1_000_000_000n),
  to: String((to - 1n) / 1_000_000_000n),
});

/** Returns the length in seconds. */
export const toSeconds = ({ from, to }: Range): number => Number(to - from) / 1e9;
