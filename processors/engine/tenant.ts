/** What a task holds of one tenant. */
import type { Context, Emits, Follows, StateSize } from './definition.ts';
import type { Timers } from './timers.ts';

/** The tenant's messages are passed by until the clock of the bus has reached `untilMs`. */
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
  /** Latest time of a record that moves the watermark. */
  latestMs: number;
  watermarkMs: number;
  /** The clock at its latest message that was stepped. */
  seenMs: number;
  limit: Limit | undefined;
  size: StateSize;
}

/** A timer's share of a tenant's bytes, roughly. */
const timerBytes = 100;

export const bytesOf = ({ size, timers }: Tenant): number => size.bytes + timers.size * timerBytes;

/** Of a tenant that is limited for the time it takes, timers wait as well. Of one with too large a state they run: they may shrink it. */
export const holdsTimers = ({ limit }: Tenant, clockMs: number): boolean =>
  limit !== undefined && limit.reason !== 'state-size' && clockMs < limit.untilMs;

/** When the clock makes a timer of the tenant due, if no message of it comes. */
export const dueMs = (tenant: Tenant, idleMs: number): number => {
  const { timers, watermarkMs, seenMs, limit } = tenant;
  const next = timers.nextMs('watermark');
  const byWatermark = next <= watermarkMs ? Number.NEGATIVE_INFINITY : Math.max(next, seenMs) + idleMs;
  const due = Math.min(timers.nextMs('clock'), byWatermark);
  return limit !== undefined && limit.reason !== 'state-size' ? Math.max(due, limit.untilMs) : due;
};
