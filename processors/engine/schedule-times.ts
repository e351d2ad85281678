/** When a thing is due, and in which slot it lies. Pure functions of its key, its interval and the time. */
import { murmur2 } from '../../schemas/partition.ts';
import type { Schedule } from './schedule.ts';

/**
 * Slots of a schedule: things that are saved together. They do not depend on the number of partitions, so that a topic may get more.
 * Things of one interval that share a slot are due within a 240th of it, so that one save takes them all.
 */
export const slotCount = 240;

/** Identifies a thing among all tenants. */
export const itemKey = (tenantId: string, id: string): string => `${tenantId}/${id}`;

/** The tenant of a thing's key: ids of tenants have no slash. */
export const tenantOf = (key: string): string => key.slice(0, key.indexOf('/'));

/** Where in an interval a thing is due, from 0 to 1; keys are spread evenly. */
export const phaseOf = (key: string): number => (murmur2(Buffer.from(key)) & 0x7fffffff) / 2 ** 31;

export const slotOf = (phase: number): number => Math.floor(phase * slotCount);

/** A member of the group that has a partition has these slots. */
export const slotsOf = (partition: number, partitions: number): number[] =>
  Array.from({ length: slotCount }, (_, slot) => slot).filter((slot) => slot % partitions === partition);

/**
 * The phase of a thing that is due with others of its tenant: as `phaseOf` its key, but that things come due in moments `batchMs`
 * apart. Tenants have moments of their own.
 */
export const sharedPhaseOf = (
  tenantId: string,
  key: string,
  {
    everyMs,
    batchMs,
    within: { fromMs, toMs } = { fromMs: 0, toMs: everyMs },
  }: {
    readonly everyMs: number;
    readonly batchMs: number;
    readonly within?: Schedule['within'];
  },
): number => {
  const moment = Math.floor(phaseOf(tenantId) * batchMs);
  const at = fromMs + Math.floor((phaseOf(key) * (toMs - fromMs)) / batchMs) * batchMs + moment;
  // Half a millisecond more, as a phase is a fraction.
  return ((at % everyMs) + 0.5) / everyMs;
};

/** The first due time after `afterMs`. */
export const nextDue = (phase: number, everyMs: number, afterMs: number): number => {
  const offset = Math.floor(phase * everyMs);
  return (Math.floor((afterMs - offset) / everyMs) + 1) * everyMs + offset;
};

export interface Due {
  readonly dueMs: number;
  /** Due times before it that are left out. */
  readonly skipped: number;
}

/** What to run now of the due times after `afterMs`: the earliest of the last `most`. `undefined` when none has come. */
export const dueAt = (
  nowMs: number,
  { phase, everyMs, afterMs, maxRuns }: { phase: number; everyMs: number; afterMs: number; maxRuns: number },
): Due | undefined => {
  const first = nextDue(phase, everyMs, afterMs);
  if (first > nowMs) return undefined;
  const count = Math.floor((nowMs - first) / everyMs) + 1;
  const skipped = Math.max(0, count - maxRuns);
  return { dueMs: first + skipped * everyMs, skipped };
};
