import { createRequire } from 'node:module';
import test from 'ava';
import '../../processors/adapters/bus-kafka/idle-connections.ts';

interface Queue {
  pending: unknown[];
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  destroy(): void;
}

const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as new (
  options: object,
) => Queue;
const logger = { namespace: () => logger, debug() {} };
const queueOf = (): Queue =>
  new RequestQueue({
    maxInFlightRequests: null,
    requestTimeout: 1_000,
    enforceRequestTimeout: false,
    clientId: 'test',
    broker: 'nowhere:9092',
    logger,
    isConnected: () => true,
  });

test('A connection of the Kafka driver on which nothing waits sets no timer', (t) => {
  const queue = queueOf();
  queue.checkPendingRequests();
  t.is(queue.throttleCheckTimeoutId, null);
});

test('One that the broker throttles looks again for what waits', (t) => {
  const queue = queueOf();
  queue.pending = [{}];
  queue.throttledUntil = Date.now() + 60_000;
  queue.checkPendingRequests();
  t.not(queue.throttleCheckTimeoutId, null);
  queue.destroy();
});
