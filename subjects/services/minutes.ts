/** Ranges of whole minutes, for tables that count by the minute. */
import { z } from 'zod';
import type { Range } from '../../queries/range.ts';
import { formatTime } from '../../queries/time.ts';

const minuteNs = 60_000_000_000n;
export const minuteMs = 60_000;

/** The whole minutes that a range touches, up to now; `to` does not belong to them. */
export const minutesOf = ({ from, to }: Range, nowMs: number): { readonly from: bigint; readonly to: bigint } => {
  const first = from - (((from % minuteNs) + minuteNs) % minuteNs);
  const end = to - (((to % minuteNs) + minuteNs) % minuteNs) + minuteNs;
  const now = BigInt(Math.trunc(nowMs)) * 1_000_000n;
  return { from: first, to: end > now && now > first ? now : end };
};

/** The minutes as an answer states them. */
export const minutesFields = {
  from: z.string().describe('Beginning of the first minute that is counted'),
  to: z.string().describe('End of the last one, or now; it does not belong to the range'),
} as const;

export const minutesAnswer = ({ from, to }: Range): { from: string; to: string } => ({
  from: formatTime(from),
  to: formatTime(to),
});

/** SQL of the minutes, for tables whose key has the hour of `minute`. */
export const minutesCondition =
  "minute >= toDateTime({from:Int64}, 'UTC') AND minute <= toDateTime({to:Int64}, 'UTC') AND toStartOfHour(minute) >= toStartOfHour(toDateTime({from:Int64}, 'UTC')) AND toStartOfHour(minute) <= toDateTime({to:Int64}, 'UTC')";

/** Parameters of that SQL. */
export const minutesValues = ({ from, to }: Range): { from: string; to: string } => ({
  from: String(from / 1_000_000_000n),
  to: String((to - 1n) / 1_000_000_000n),
});

/** Seconds of them. */
export const secondsOf = ({ from, to }: Range): number => Number(to - from) / 1e9;
