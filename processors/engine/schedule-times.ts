/** Computes when an item is due, and its slot. Pure functions of key, interval and time. */
import { computeMurmur2 } from '../../schemas/partition.ts';
import type { Schedule } from './schedule.ts';

/**
 * Number of slots of a schedule; the items of a slot are saved together. It does not depend on the number of
 * partitions, so a topic may get more of them. Items of one interval in one slot are due within 1/240 of the interval, so that one save
 * covers them.
 */
export const slotCount = 240;

/** Returns the key of an item, unique across tenants. */
export const toItemKey = (tenantId: string, id: string): string => `${tenantId}/${id}`;

/** Returns the tenant of an item's key; tenant ids contain no slash. */
export const parseTenantId = (key: string): string => key.slice(0, key.indexOf('/'));

/** Returns the position of an item within its interval, from 0 to 1; keys are spread evenly. */
export const computePhase = (key: string): number => (computeMurmur2(Buffer.from(key)) & 0x7fffffff) / 2 ** 31;

export const toSlot = (phase: number): number => Math.floor(phase * slotCount);

/** Returns the slots of a partition. */
export const listSlots = (partition: number, partitionCount: number): number[] =>
  Array.from({ length: slotCount }, (_, slot) => slot).filter((slot) => slot % partitionCount === partition);

/**
 * Returns the phase of an item that is due together with others of its tenant: the phase of its key, rounded down to
 * a multiple of `batchMs`. Each tenant has its own due times.
 */
export const computeSharedPhase = (
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
  const tenantOffsetMs = Math.floor(computePhase(tenantId) * batchMs);
  const dueOffsetMs = fromMs + Math.floor((computePhase(key) * (toMs - fromMs)) / batchMs) * batchMs + tenantOffsetMs;
  // Half a millisecond is added because a phase is a fraction.
  return ((dueOffsetMs % everyMs) + 0.5) / everyMs;
};

/** Returns the first due time after `afterMs`. */
export const getNextDueMs = (phase: number, everyMs: number, afterMs: number): number => {
  const offset = Math.floor(phase * everyMs);
  return (Math.floor((afterMs - offset) / everyMs) + 1) * everyMs + offset;
};

export interface Due {
  readonly dueMs: number;
  /** Number of skipped due times before it. */
  readonly skipped: number;
}

/**
 * Returns the due time after `afterMs` to run now: the earliest of the last `maxRuns`. `undefined` if none has passed.
 */
export const findDue = (
  nowMs: number,
  { phase, everyMs, afterMs, maxRuns }: { phase: number; everyMs: number; afterMs: number; maxRuns: number },
): Due | undefined => {
  const first = getNextDueMs(phase, everyMs, afterMs);
  if (first > nowMs) return undefined;
  const count = Math.floor((nowMs - first) / everyMs) + 1;
  const skipped = Math.max(0, count - maxRuns);
  return { dueMs: first + skipped * everyMs, skipped };
};
