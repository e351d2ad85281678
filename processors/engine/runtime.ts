/** What a processor runs on. */
import type { States } from '../../runtime/states.ts';
import type { Bus, Producer } from '../../schemas/ports/bus.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import type { Configuration } from './configuration.ts';
import type { TaskPool } from './pool.ts';

export interface Pace {
  /** A snapshot is saved once so much time has passed since the last one … Default 30,000. */
  readonly snapshotMs: number;
  /** … or so many messages, unless the last one took so long that another would take more than 5 % of the thread. Default 50,000. */
  readonly snapshotMessages: number;
  /** How often it is looked whether time has made something due. Default 1,000. */
  readonly tickMs: number;
  /** A partition that delivered nothing for so long, and does not grow, is idle, whatever its end says. Default 30,000. */
  readonly quietMs: number;
}

export const defaultPace: Pace = { snapshotMs: 30_000, snapshotMessages: 50_000, tickMs: 1_000, quietMs: 30_000 };

export interface Runtime {
  readonly bus: Pick<Bus, 'offsets' | 'read'>;
  readonly producer: Producer;
  readonly states: States;
  readonly pool: TaskPool;
  readonly configuration: Configuration;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly pace: Pace;
}
