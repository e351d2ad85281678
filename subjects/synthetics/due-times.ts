/** When a check is due at a location: a function of both and of the interval, so that nobody has to be told. */
import { createHash } from 'node:crypto';
import { msOf } from '../alerts/durations.ts';
import type { KnownCheck } from './known.ts';

/** Due times are so far apart at least: a location with many checks runs few of them in one moment. */
export const dueStepMs = 20;

type Timed = Pick<KnownCheck, 'id' | 'every'>;

/** Where in its interval a check is due at a location: spread over the interval, and apart from other locations. */
const phaseMs = ({ id, every }: Timed, location: string): number => {
  const spread = createHash('sha256').update(`${id}\0${location}`).digest().readUIntBE(0, 6);
  return (spread % (msOf(every) / dueStepMs)) * dueStepMs;
};

/** Whether a time is one at which the check is due there. */
export const isDueAt = (check: Timed, location: string, ms: number): boolean =>
  Number.isInteger(ms) && (ms - phaseMs(check, location)) % msOf(check.every) === 0;

/** The first due time after a moment. */
export const nextDueAfter = (check: Timed, location: string, ms: number): number => {
  const everyMs = msOf(check.every);
  const phase = phaseMs(check, location);
  return (Math.floor((ms - phase) / everyMs) + 1) * everyMs + phase;
};

/** The last due time up to a moment. */
export const lastDueAt = (check: Timed, location: string, ms: number): number =>
  nextDueAfter(check, location, ms) - msOf(check.every);
