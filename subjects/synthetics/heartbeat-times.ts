/**
 * Due times of heartbeats. They only depend on the schedule and the last heartbeat, so every process computes the
 * same times
 */
import { parseDurationMs } from '../alerts/durations.ts';
import { findNextCronTime } from './cron.ts';
import { getIntervalMs, type HeartbeatSchedule } from './types/heartbeat.ts';

/** Tolerance for a job whose clock is ahead, before the expected time */
const maxEarlyMs = 10_000;

const minGraceMs = 10_000;
const maxGraceMs = 3_600_000;

/** Returns the maximum delay of a heartbeat. */
export const getGraceMs = (schedule: HeartbeatSchedule): number => {
  const { grace } = schedule.heartbeat;
  if (grace !== null) return parseDurationMs(grace);
  return Math.max(minGraceMs, Math.min(maxGraceMs, Math.floor(getIntervalMs(schedule) / 10)));
};

/**
 * Returns the first due time after an instant; `undefined` if there is none. Without cron, times follow `baseMs` at
 * the interval.
 */
export const findNextDueMs = (
  { every, heartbeat: { cron, timeZone, every: heartbeatInterval } }: HeartbeatSchedule,
  { baseMs, afterMs }: { readonly baseMs: number; readonly afterMs: number },
): number | undefined => {
  if (cron !== null) return findNextCronTime({ cron, timeZone }, afterMs);
  const intervalMs = parseDurationMs(heartbeatInterval ?? every);
  return baseMs + Math.max(1, Math.floor((afterMs - baseMs) / intervalMs) + 1) * intervalMs;
};

/** Returns the due time that follows a heartbeat; a heartbeat shortly before a due time counts for it. */
export const findNextDueAfterHeartbeat = (
  schedule: HeartbeatSchedule,
  { baseMs, answeredMs }: { readonly baseMs: number; readonly answeredMs: number },
): number | undefined =>
  findNextDueMs(schedule, { baseMs, afterMs: schedule.heartbeat.cron === null ? answeredMs : answeredMs + maxEarlyMs });

/** Returns the next due times, at most `count`. */
export const listNextDueTimes = (
  schedule: HeartbeatSchedule,
  { baseMs, nowMs, count }: { readonly baseMs: number; readonly nowMs: number; readonly count: number },
): readonly number[] => {
  const times: number[] = [];
  for (
    let dueMs = findNextDueMs(schedule, { baseMs, afterMs: nowMs });
    dueMs !== undefined && times.length < count;
    dueMs = findNextDueMs(schedule, { baseMs, afterMs: dueMs })
  )
    times.push(dueMs);
  return times;
};

/** Maximum processing time of the platform, from a deadline until its results are stored */
const maxReportingDelayMs = 120_000;

/** Returns the time until which the next result is expected after the last one; after that, the state is unknown. */
export const computeKnownUntilMs = (schedule: HeartbeatSchedule, reportedAtMs: number): number => {
  const due = findNextDueAfterHeartbeat(schedule, { baseMs: reportedAtMs, answeredMs: reportedAtMs });
  if (due === undefined) return Number.POSITIVE_INFINITY;
  return due + getGraceMs(schedule) + parseDurationMs(schedule.heartbeat.maxRunDuration) + maxReportingDelayMs;
};
