/** State of one tenant in a task. */
import type { Context, Emits, Follows, StateSize } from './definition.ts';
import type { Timers } from './timers.ts';

/** Messages of the tenant are skipped until the clock of the bus reaches `untilMs`. */
export interface TenantLimit {
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
  /** Bus clock at the last stepped message. */
  lastStepMs: number;
  limit: TenantLimit | undefined;
  size: StateSize;
}

/** Approximate bytes of a timer. */
const timerBytes = 100;

export const getTenantBytes = ({ size, timers }: Tenant): number => size.bytes + timers.size * timerBytes;

/**
 * Returns whether the tenant’s timers wait. They wait while the tenant’s CPU time is limited. If its state is too large,
 * they still run, because they may shrink the state.
 */
export const areTimersPaused = ({ limit }: Tenant, clockMs: number): boolean =>
  limit !== undefined && limit.reason !== 'state-size' && clockMs < limit.untilMs;

/** Returns the clock time at which the tenant’s next timer is due if no message arrives. */
export const computeNextTimerMs = (tenant: Tenant, idleMs: number): number => {
  const { timers, watermarkMs, lastStepMs, limit } = tenant;
  const nextWatermarkTimerMs = timers.nextMs('watermark');
  const watermarkDueMs =
    nextWatermarkTimerMs <= watermarkMs
      ? Number.NEGATIVE_INFINITY
      : Math.max(nextWatermarkTimerMs, lastStepMs) + idleMs;
  const dueMs = Math.min(timers.nextMs('clock'), watermarkDueMs);
  return limit !== undefined && limit.reason !== 'state-size' ? Math.max(dueMs, limit.untilMs) : dueMs;
};
