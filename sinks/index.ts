/** The sinks, one line each. Consumer groups, metric labels and contract tests are derived from the definitions. */

import { selectComponents } from '../runtime/components.ts';
import { toConsumerGroup } from '../runtime/consumer-groups.ts';
import { trackWork } from '../runtime/current-work.ts';
import { createStoresCheck } from '../runtime/readiness.ts';
import type { Bus } from '../schemas/ports/bus.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Columns } from '../schemas/ports/columns.ts';
import type { Log } from '../schemas/ports/log.ts';
import type { Metrics } from '../schemas/ports/metrics.ts';
import type { Role } from '../schemas/ports/role.ts';
import { createBatchHandler } from './engine/run.ts';
import { ScanPool } from './engine/scan-pool.ts';
import type { Sink } from './engine/sink.ts';
import { sumLlmHoursJob } from './llm-hours.ts';
import { sinks } from './registry.ts';
import { applyRetentionHourly } from './retention.ts';
import { sumSloDaysJob } from './slo-days.ts';

/**
 * Larger than the default of the bus: each insert creates a part with its own dictionary of words, and few large parts
 * cost half as much to write and merge as many small ones. The limit is the memory of a batch in transit, which is
 * scarcer if the engine is in the same process.
 */
const getBatchLimits = (embedded: boolean) => ({ maxRecords: 100_000, maxBytes: (embedded ? 16 : 48) * 1024 * 1024 });

const getTopicNames = ({ inputs }: Sink): string[] => inputs.map(({ topic }) => topic.name);

/** Consumer groups of the sinks, for measuring lag. */
export const sinkGroups = sinks.map((sink) => ({
  group: toConsumerGroup('sinks', sink.name),
  topics: getTopicNames(sink),
}));

export interface SinksOptions {
  readonly bus: Bus;
  readonly columns: Columns;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
  /** Whether the stores are in this process. */
  readonly embedded: boolean;
  /** Names of the sinks to run; empty to run all. */
  readonly selectedNames?: readonly string[];
  /** Number of scan threads; by default one less than the number of cores, at most four. */
  readonly threads?: number;
}

/** Creates and upgrades the tables. Idempotent, and safe in concurrent processes. */
export const migrateTables = async (columns: Columns, log: Log): Promise<void> => {
  const { migrate } = await import('./migrations/index.ts');
  await migrate(columns, log);
};

/** Returns the id of the newest migration of the tables. */
export const getNewestTableMigration = async (): Promise<number> => {
  const { migrations } = await import('./migrations/index.ts');
  return Math.max(...migrations.map(({ id }) => id));
};

/** Scheduled jobs of the sinks. */
export const sinkJobs = [applyRetentionHourly, sumLlmHoursJob, sumSloDaysJob];

/** Starts consuming. The tables and topics must exist. */
export const startSinks = async (options: SinksOptions): Promise<Role> => {
  const { bus, columns } = options;
  const selectedSinks = selectComponents('sink', sinks, options.selectedNames);
  const producer = await bus.producer();
  const pool = new ScanPool(new URL('./registry.ts', import.meta.url), options.threads);
  const runningSinks = selectedSinks.map((sink) => {
    const consumer = bus.createConsumer({
      group: toConsumerGroup('sinks', sink.name),
      ...getBatchLimits(options.embedded),
    });
    const handler = createBatchHandler(sink, { ...options, producer, pool });
    return { consumer, done: trackWork(`sink ${sink.name}`, () => consumer.run(getTopicNames(sink), handler)) };
  });
  return {
    name: 'sinks',
    checkReady: createStoresCheck({ 'the bus': () => bus.check(), columns: () => columns.check() }),
    async stop() {
      await Promise.all(runningSinks.map(({ consumer }) => consumer.stop()));
      await Promise.allSettled(runningSinks.map(({ done: completion }) => completion));
      await pool.close();
      await producer.close();
    },
    failure: Promise.all(runningSinks.map(({ done: completion }) => completion)).then(() => undefined),
  };
};
