/** State of one tenant in a task. */
import type { Context, Emits, Follows, StateSize } from './definition.ts';
import type { Timers } from './timers.ts';

/** Messages of the tenant are skipped until the clock of the bus reaches `untilMs`. */
export interface Limit {
  readonly reason: string;
  readonly untilMs: number;
}

export interface Tenant {
  readonly id: string;
  readonly state: unknown;
  readonly timers: Timers;
  readonly context: {
    -readonly [Key in keyof Context<Emits, Follows, unknown>]: Context<Emits, Follows, unknown>[Key];
  };
  /** Latest record time that moves the watermark. */
  latestMs: number;
  watermarkMs: number;
  /** Clock at the latest stepped message. */
  seenMs: number;
  limit: Limit | undefined;
  size: StateSize;
}

/** Approximate bytes of a timer. */
const timerBytes = 100;

export const tenantBytes = ({ size, timers }: Tenant): number => size.bytes + timers.size * timerBytes;

/**
 * Returns whether timers wait. They do for a tenant that is limited for its CPU time. With too large a state they run,
 * because they may shrink it.
 */
export const areTimersPaused = ({ limit }: Tenant, clockMs: number): boolean =>
  limit !== undefined && limit.reason !== 'state-size' && clockMs < limit.untilMs;

/** Returns when the clock makes the next timer of the tenant due, if no message arrives. */
export const nextTimerMs = (tenant: Tenant, idleMs: number): number => {
  const { timers, watermarkMs, seenMs, limit } = tenant;
  const next = timers.nextMs('watermark');
  const byWatermark = next <= watermarkMs ? Number.NEGATIVE_INFINITY : Math.max(next, seenMs) + idleMs;
  const due = Math.min(timers.nextMs('clock'), byWatermark);
  return limit !== undefined && limit.reason !== 'state-size' ? Math.max(due, limit.untilMs) : due;
};
