import type { PlatformEvent } from '../schemas/events.ts';
import type { Bus } from '../schemas/ports/bus.ts';
import { topics } from '../schemas/topics.ts';
import { lazyProducer } from './bus-producer.ts';

/** Publishes events on behalf of callers. */
export interface EventPublisher {
  /** Resolves when the event is durable on the bus: it is in the feed once it has landed, a second or two later. */
  publish(event: PlatformEvent): Promise<void>;
  close(): Promise<void>;
}

export const openEventPublisher = (bus: Bus): EventPublisher => {
  const producer = lazyProducer(bus);
  return {
    async publish(event) {
      const { tenantId } = event;
      const message = {
        topic: topics.events.name,
        key: tenantId,
        value: Buffer.from(JSON.stringify([event])),
        headers: { tenant: tenantId },
      };
      await (await producer.get()).publish([message]);
    },
    close: () => producer.close(),
  };
};
