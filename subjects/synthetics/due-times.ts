/** Due times of a check at a location: a function of both and of the interval, so no coordination is required */
import { createHash } from 'node:crypto';
import { parseDurationMs } from '../alerts/durations.ts';
import type { KnownCheck } from './known.ts';

/** Minimum distance of due times, so that a location with many checks runs few of them at the same moment */
export const dueStepMs = 20;

type ScheduledCheck = Pick<KnownCheck, 'id' | 'every'>;

/** Returns the offset of a check at a location: distributed over the interval, and different from other locations. */
const phaseMs = ({ id, every }: ScheduledCheck, location: string): number => {
  const spread = createHash('sha256').update(`${id}\0${location}`).digest().readUIntBE(0, 6);
  return (spread % (parseDurationMs(every) / dueStepMs)) * dueStepMs;
};

/** Returns whether the check is due at a location at a time. */
export const isDueAt = (check: ScheduledCheck, location: string, ms: number): boolean =>
  Number.isInteger(ms) && (ms - phaseMs(check, location)) % parseDurationMs(check.every) === 0;

/** Returns the first due time after a moment. */
export const nextDueAfter = (check: ScheduledCheck, location: string, ms: number): number => {
  const everyMs = parseDurationMs(check.every);
  const phase = phaseMs(check, location);
  return (Math.floor((ms - phase) / everyMs) + 1) * everyMs + phase;
};

/** Returns the last due time up to a moment. */
export const lastDueAt = (check: ScheduledCheck, location: string, ms: number): number =>
  nextDueAfter(check, location, ms) - parseDurationMs(check.every);
