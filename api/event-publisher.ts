import type { z } from 'zod';
import type { PlatformEvent } from '../schemas/events.ts';
import type { Bus } from '../schemas/ports/bus.ts';
import type { DerivedTopic } from '../schemas/topic.ts';
import { createLazyProducer } from './bus-producer.ts';

/** Publishes values of a derived topic on behalf of callers. */
export interface ValuePublisher<Value> {
  /**
   * Resolves when the values, all of one organization, are durable on the bus. They become readable a second or two
   * later.
   */
  publish(...values: readonly Value[]): Promise<void>;
  close(): Promise<void>;
}

export type EventPublisher = ValuePublisher<PlatformEvent>;

export const createPublisher = <Item extends z.ZodType<{ readonly tenantId: string }>>(
  bus: Bus,
  topic: DerivedTopic<Item>,
): ValuePublisher<z.output<Item>> => {
  const producer = createLazyProducer(bus);
  return {
    async publish(...values) {
      const [first] = values;
      if (first === undefined) return;
      const tenant = topic.getTenant(first);
      const message = {
        topic: topic.name,
        key: tenant,
        value: Buffer.from(JSON.stringify(values)),
        headers: { tenant },
      };
      await (await producer.get()).publish([message]);
    },
    close: () => producer.close(),
  };
};
