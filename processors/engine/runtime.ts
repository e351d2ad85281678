/** Dependencies of a running processor. */
import type { StateStore } from '../../runtime/states.ts';
import type { Bus, Producer } from '../../schemas/ports/bus.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import type { Configuration } from './configuration.ts';
import type { TaskPool } from './pool.ts';

export interface ProcessorIntervals {
  /** Time after the last snapshot until another is saved. Default 30,000. */
  readonly snapshotMs: number;
  /**
   * Number of messages after which a snapshot is saved, unless it would take more than 5 % of the thread. Default
   * 50,000.
   */
  readonly snapshotMessages: number;
  /** Interval of checks for due timers. Default 1,000. */
  readonly tickMs: number;
  /**
   * Time without deliveries after which a partition that does not grow counts as idle, whatever its end offset. Default
   * 30,000.
   */
  readonly idleAfterMs: number;
}

export const defaultIntervals: ProcessorIntervals = {
  snapshotMs: 30_000,
  snapshotMessages: 50_000,
  tickMs: 1_000,
  idleAfterMs: 30_000,
};

export interface Runtime {
  readonly bus: Pick<Bus, 'offsets' | 'read'>;
  readonly producer: Producer;
  readonly states: StateStore;
  readonly pool: TaskPool;
  readonly configuration: Configuration;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly intervals: ProcessorIntervals;
}
