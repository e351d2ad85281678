/**
 * Due times of heartbeats: a function of the expectation and of the last heartbeat, so every process computes the same
 * times
 */
import { parseDurationMs } from '../alerts/durations.ts';
import { nextCronTime } from './cron.ts';
import { type HeartbeatSchedule, intervalMs } from './types/heartbeat.ts';

/** Tolerance for a job whose clock is ahead, before the expected time */
const maxEarlyMs = 10_000;

const minGraceMs = 10_000;
const maxGraceMs = 3_600_000;

/** Returns the maximum delay of a heartbeat. */
export const graceMs = (expected: HeartbeatSchedule): number => {
  const { grace } = expected.heartbeat;
  if (grace !== null) return parseDurationMs(grace);
  return Math.max(minGraceMs, Math.min(maxGraceMs, Math.floor(intervalMs(expected) / 10)));
};

/**
 * Returns the first due time after a moment; `undefined` if there is none. Without cron, times are one interval apart
 * from `baseMs` on.
 */
export const nextDueMs = (
  { every, heartbeat: { cron, timeZone, every: own } }: HeartbeatSchedule,
  { baseMs, afterMs }: { readonly baseMs: number; readonly afterMs: number },
): number | undefined => {
  if (cron !== null) return nextCronTime({ cron, timeZone }, afterMs);
  const intervalMs = parseDurationMs(own ?? every);
  return baseMs + Math.max(1, Math.floor((afterMs - baseMs) / intervalMs) + 1) * intervalMs;
};

/** Returns the due time that follows a heartbeat; a heartbeat shortly before a due time counts for it. */
export const nextDueAfterHeartbeat = (
  expected: HeartbeatSchedule,
  { baseMs, answeredMs }: { readonly baseMs: number; readonly answeredMs: number },
): number | undefined =>
  nextDueMs(expected, { baseMs, afterMs: expected.heartbeat.cron === null ? answeredMs : answeredMs + maxEarlyMs });

/** Returns the next due times, at most `count`. */
export const nextDueTimes = (
  expected: HeartbeatSchedule,
  { baseMs, nowMs, count }: { readonly baseMs: number; readonly nowMs: number; readonly count: number },
): readonly number[] => {
  const times: number[] = [];
  for (
    let at = nextDueMs(expected, { baseMs, afterMs: nowMs });
    at !== undefined && times.length < count;
    at = nextDueMs(expected, { baseMs, afterMs: at })
  )
    times.push(at);
  return times;
};

/** Maximum processing time of the platform, from a deadline until its results are stored */
const maxReportingDelayMs = 120_000;

/** Returns the time until which the next result is expected after the last one; after that, the state is unknown. */
export const knownUntilMs = (expected: HeartbeatSchedule, reportedAtMs: number): number => {
  const due = nextDueAfterHeartbeat(expected, { baseMs: reportedAtMs, answeredMs: reportedAtMs });
  if (due === undefined) return Number.POSITIVE_INFINITY;
  return due + graceMs(expected) + parseDurationMs(expected.heartbeat.maxRunDuration) + maxReportingDelayMs;
};
