import { createRequire } from 'node:module';
import test from 'ava';
import '../../adapters/bus-kafka/idle-connections.ts';
import '../../adapters/bus-kafka/lazy-validators.ts';

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

test('A validator of the other driver is compiled when it is first used, and says then what is wrong', (t) => {
  interface Validate {
    (value: unknown): boolean;
    readonly errors?: readonly { readonly keyword: string }[] | null;
  }
  const ofDriver = createRequire(import.meta.resolve('@platformatic/kafka'));
  const { Ajv2020 } = ofDriver('ajv/dist/2020.js') as { Ajv2020: new () => { compile(schema: object): Validate } };
  const wrong = new Ajv2020().compile({ type: 'nonsense' });
  t.throws(() => wrong(1), { message: /nonsense|schema is invalid/ });
  const validate = new Ajv2020().compile({ type: 'object', required: ['a'] });
  t.is(validate.errors, undefined);
  t.false(validate({}));
  t.is(validate.errors?.[0]?.keyword, 'required');
  t.true(validate({ a: 1 }));
  t.is(validate.errors, null);
});
