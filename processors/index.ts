/** The role that runs processors. `registry.ts` lists them. */
import { answering } from '../runtime/answering.ts';
import { componentsNamed } from '../runtime/components.ts';
import { consumerGroup } from '../runtime/consumer-groups.ts';
import { openStates } from '../runtime/states.ts';
import type { Bus } from '../schemas/ports/bus.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Documents } from '../schemas/ports/documents.ts';
import type { Log } from '../schemas/ports/log.ts';
import type { Metrics } from '../schemas/ports/metrics.ts';
import type { Role } from '../schemas/ports/role.ts';
import { followConfiguration } from './engine/configuration.ts';
import type { Processor } from './engine/definition.ts';
import { TaskPool, type TaskPoolOptions } from './engine/pool.ts';
import { runProcessor } from './engine/run.ts';
import { defaultPace, type Pace } from './engine/runtime.ts';
import { processors } from './registry.ts';

/** Consumer groups of the registered processors, for lag. */
export const processorGroups = processors.map(({ name, reads }) => ({
  group: consumerGroup('processors', name),
  topics: reads.topics.map((topic) => topic.name),
}));

export interface ProcessorsOptions {
  readonly bus: Bus;
  readonly documents: Documents;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
  /** Names of the processors to run; empty runs all. */
  readonly only?: readonly string[];
  /** Others than those of the registry, and the module whose `processors` they are, for the threads. */
  readonly registered?: { readonly processors: readonly Processor[]; readonly module: URL };
  readonly pool?: Omit<TaskPoolOptions, 'definitions'>;
  readonly pace?: Partial<Pace>;
}

/** Starts consuming. Topics and collections must be there. */
export const startProcessors = async (options: ProcessorsOptions): Promise<Role> => {
  const { bus, documents, metrics, log, clock, registered } = options;
  const chosen = componentsNamed('processor', registered?.processors ?? processors, options.only);
  const producer = await bus.producer();
  const pool = new TaskPool({ ...options.pool, definitions: registered?.module });
  const configuration = await followConfiguration(chosen, documents, (change) => pool.change(change));
  const states = openStates({ documents, clock });
  const pace = { ...defaultPace, ...options.pace };
  const runtime = { bus, producer, states, pool, configuration, clock, metrics, log, pace };
  const consumers = chosen.map((processor) => {
    const consumer = bus.consumer({ group: consumerGroup('processors', processor.name) });
    return { consumer, done: runProcessor(processor, consumer, runtime) };
  });
  const stopped = Promise.withResolvers<void>();
  return {
    name: 'processors',
    ready: () => answering({ 'the bus': () => bus.check(), documents: () => documents.check() }),
    async stop() {
      await Promise.all(consumers.map(({ consumer }) => consumer.stop()));
      await Promise.allSettled(consumers.map(({ done }) => done));
      await configuration.close();
      await pool.close();
      await producer.close();
      stopped.resolve();
    },
    failed: Promise.all([stopped.promise, ...consumers.map(({ done }) => done)]).then(() => undefined),
  };
};
