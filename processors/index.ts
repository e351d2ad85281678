/** The processors: one line each. Consumer group, metrics' labels and contract tests follow from the definitions. */

import { answering } from '../runtime/answering.ts';
import { componentsNamed } from '../runtime/components.ts';
import { consumerGroup } from '../runtime/consumer-groups.ts';
import type { Bus } from '../schemas/ports/bus.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Metrics } from '../schemas/ports/metrics.ts';
import type { Role } from '../schemas/ports/role.ts';
import type { Processor } from './engine/processor.ts';
import { runProcessor } from './engine/run.ts';

export const processors: readonly Processor[] = [];

/** Consumer groups of the registered processors, for lag. */
export const processorGroups = processors.map(({ name, input }) => ({
  group: consumerGroup('processors', name),
  topics: [input.name],
}));

export interface ProcessorsOptions {
  readonly bus: Bus;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Names of the processors to run; empty runs all. */
  readonly only?: readonly string[];
}

export const startProcessors = async ({ bus, metrics, clock, only }: ProcessorsOptions): Promise<Role> => {
  const chosen = componentsNamed('processor', processors, only);
  const producer = await bus.producer();
  const consumers = chosen.map((processor) => {
    const consumer = bus.consumer({ group: consumerGroup('processors', processor.name) });
    return { consumer, done: runProcessor(processor, { config: {}, clock, consumer, producer, metrics }) };
  });
  const stopped = Promise.withResolvers<void>();
  return {
    name: 'processors',
    ready: () => answering({ 'the bus': () => bus.check() }),
    async stop() {
      await Promise.all(consumers.map(({ consumer }) => consumer.stop()));
      await producer.close();
      stopped.resolve();
    },
    failed: Promise.all([stopped.promise, ...consumers.map(({ done }) => done)]).then(() => undefined),
  };
};
