/** When a heartbeat is due: a function of what is expected and of what was seen last, so that everybody sees the same times. */
import { msOf } from '../alerts/durations.ts';
import { cronAfter } from './cron.ts';
import { type Expected, intervalMs } from './types/heartbeat.ts';

/** A job whose clock is ahead tells before the time at which it is expected. */
const earlyMs = 10_000;

const minGraceMs = 10_000;
const maxGraceMs = 3_600_000;

/** How late it may be. */
export const graceMs = (expected: Expected): number => {
  const { grace } = expected.heartbeat;
  if (grace !== null) return msOf(grace);
  return Math.max(minGraceMs, Math.min(maxGraceMs, Math.floor(intervalMs(expected) / 10)));
};

/** The first time after a moment at which it is due; undefined where none comes. Without cron, times are an interval apart from `baseMs` on. */
export const dueAfter = (
  { every, heartbeat: { cron, timeZone, every: own } }: Expected,
  { baseMs, afterMs }: { readonly baseMs: number; readonly afterMs: number },
): number | undefined => {
  if (cron !== null) return cronAfter({ cron, timeZone }, afterMs);
  const intervalMs = msOf(own ?? every);
  return baseMs + Math.max(1, Math.floor((afterMs - baseMs) / intervalMs) + 1) * intervalMs;
};

/** The due time that follows what was told at a moment, which answers for a time shortly after it. */
export const dueAfterHeartbeat = (
  expected: Expected,
  { baseMs, answeredMs }: { readonly baseMs: number; readonly answeredMs: number },
): number | undefined =>
  dueAfter(expected, { baseMs, afterMs: expected.heartbeat.cron === null ? answeredMs : answeredMs + earlyMs });

/** The next times at which it is due, `count` at most. */
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

/** Time of the platform's own, from a deadline until what follows from it has landed. */
const maxReportingDelayMs = 120_000;

/** Until when something must have been told after the last word: what is silent for longer is not known. */
export const knownUntilMs = (expected: Expected, reportedAtMs: number): number => {
  const due = dueAfterHeartbeat(expected, { baseMs: reportedAtMs, answeredMs: reportedAtMs });
  if (due === undefined) return Number.POSITIVE_INFINITY;
  return due + graceMs(expected) + msOf(expected.heartbeat.maxRunDuration) + maxReportingDelayMs;
};
