/**
 * Due times of heartbeats: a function of the expectation and of the last heartbeat, so every process computes the same
 * times
 */
import { msOf } from '../alerts/durations.ts';
import { cronAfter } from './cron.ts';
import { type Expected, intervalMs } from './types/heartbeat.ts';

/** Tolerance for a job whose clock is ahead, before the expected time */
const earlyMs = 10_000;

const minGraceMs = 10_000;
const maxGraceMs = 3_600_000;

/** Returns the maximum delay of a heartbeat. */
export const graceMs = (expected: Expected): number => {
  const { grace } = expected.heartbeat;
  if (grace !== null) return msOf(grace);
  return Math.max(minGraceMs, Math.min(maxGraceMs, Math.floor(intervalMs(expected) / 10)));
};

/**
 * Returns the first due time after a moment; `undefined` if there is none. Without cron, times are one interval apart
 * from `baseMs` on.
 */
export const dueAfter = (
  { every, heartbeat: { cron, timeZone, every: own } }: Expected,
  { baseMs, afterMs }: { readonly baseMs: number; readonly afterMs: number },
): number | undefined => {
  if (cron !== null) return cronAfter({ cron, timeZone }, afterMs);
  const intervalMs = msOf(own ?? every);
  return baseMs + Math.max(1, Math.floor((afterMs - baseMs) / intervalMs) + 1) * intervalMs;
};

/** Returns the due time that follows a heartbeat; a heartbeat shortly before a due time counts for it. */
export const dueAfterHeartbeat = (
  expected: Expected,
  { baseMs, answeredMs }: { readonly baseMs: number; readonly answeredMs: number },
): number | undefined =>
  dueAfter(expected, { baseMs, afterMs: expected.heartbeat.cron === null ? answeredMs : answeredMs + earlyMs });

/** Returns the next due times, at most `count`. */
export const nextDueTimes = (
  expected: Expected,
  { baseMs, nowMs, count }: { readonly baseMs: number; readonly nowMs: number; readonly count: number },
): readonly number[] => {
  const times: number[] = [];
  for (
    let at = dueAfter(expected, { baseMs, afterMs: nowMs });
    at !== undefined && times.length < count;
    at = dueAfter(expected, { baseMs, afterMs: at })
  )
    times.push(at);
  return times;
};

/** Maximum processing time of the platform, from a deadline until its results are stored */
const maxReportingDelayMs = 120_000;

/** Returns the time until which the next result is expected after the last one; after that, the state is unknown. */
export const knownUntilMs = (expected: Expected, reportedAtMs: number): number => {
  const due = dueAfterHeartbeat(expected, { baseMs: reportedAtMs, answeredMs: reportedAtMs });
  if (due === undefined) return Number.POSITIVE_INFINITY;
  return due + graceMs(expected) + msOf(expected.heartbeat.maxRunDuration) + maxReportingDelayMs;
};
