/** Due times of a check at a location: a function of both and of the interval, so no coordination is required */
import { createHash } from 'node:crypto';
import { parseDurationMs } from '../alerts/durations.ts';
import type { IdentifiedCheck } from './read-checks.ts';

/** Minimum distance of due times, so that a location with many checks runs few of them at the same time */
export const dueStepMs = 20;

type ScheduledCheck = Pick<IdentifiedCheck, 'id' | 'every'>;

/** Returns the offset of a check at a location: distributed over the interval, and different from other locations. */
const computePhaseMs = ({ id, every }: ScheduledCheck, location: string): number => {
  const hashValue = createHash('sha256').update(`${id}\0${location}`).digest().readUIntBE(0, 6);
  return (hashValue % (parseDurationMs(every) / dueStepMs)) * dueStepMs;
};

/** Returns whether the check is due at a location at a time. */
export const isDueAt = (check: ScheduledCheck, location: string, ms: number): boolean =>
  Number.isInteger(ms) && (ms - computePhaseMs(check, location)) % parseDurationMs(check.every) === 0;

/** Returns the first due time after an instant. */
export const findNextDueMs = (check: ScheduledCheck, location: string, ms: number): number => {
  const everyMs = parseDurationMs(check.every);
  const phase = computePhaseMs(check, location);
  return (Math.floor((ms - phase) / everyMs) + 1) * everyMs + phase;
};

/** Returns the last due time up to an instant. */
export const findLastDueMs = (check: ScheduledCheck, location: string, ms: number): number =>
  findNextDueMs(check, location, ms) - parseDurationMs(check.every);
