import { parseTime } from '../queries/time.ts';
import { timeFormatProblem } from '../queries/time-parameters.ts';
import { createFieldError } from './errors.ts';

const maxPastMs = 30 * 24 * 3_600_000;
const maxFutureMs = 3_600_000;

/**
 * Returns the time of an event that a caller adds, as ISO 8601 with milliseconds; defaults to now. Throws if the time
 * is too far away.
 */
export const parseEventTime = (time: string | undefined, nowMs: number): string => {
  if (time === undefined) return new Date(nowMs).toISOString();
  const timeNs = parseTime(time, nowMs);
  if (timeNs === undefined) throw createFieldError('time', timeFormatProblem);
  const ms = Number(timeNs / 1_000_000n);
  if (ms < nowMs - maxPastMs) throw createFieldError('time', 'is more than 30 days ago');
  if (ms > nowMs + maxFutureMs) throw createFieldError('time', 'is more than an hour from now');
  return new Date(ms).toISOString();
};
