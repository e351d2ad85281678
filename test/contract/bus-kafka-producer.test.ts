/** The producer with Kafka: lost responses, and batches that Kafka's own clients can read. */
import { Connection, produceV9 } from '@platformatic/kafka';
import test, { type ExecutionContext } from 'ava';
import { Kafka, logLevel } from 'kafkajs';
import { openKafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import { startServices } from '../services/services.ts';
import { messageTo, someTopic } from './bus-harness.ts';

let brokers: string[] = [];

test.before(async () => {
  brokers = (await startServices(['kafka'])).url('kafka').split(',');
});

const open = async (t: ExecutionContext) => {
  const bus = await openKafkaBus({ brokers });
  t.teardown(() => bus.close());
  return bus;
};

/** Drops the broker's next responses to Produce requests: the messages are stored, but the sender gets no response. */
const loseAnswers = (t: ExecutionContext, count: number): void => {
  const { send } = Connection.prototype;
  let left = count;
  Connection.prototype.send = function (...args) {
    const callback = args[6] as (error: Error | null, response?: unknown) => void;
    if (args[0] === produceV9.api.key && left > 0) {
      left--;
      args[6] = () => callback(new Error('the answer was lost'));
    }
    return send.apply(this, args as Parameters<typeof send>);
  };
  t.teardown(() => {
    Connection.prototype.send = send;
  });
};

test.serial(
  'a batch whose response is lost, even more than once, is stored once, and later batches keep their order',
  async (t) => {
    const bus = await open(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    await producer.publish([messageTo(topic, 'first')]);
    loseAnswers(t, 2);
    await Promise.all([
      producer.publish([messageTo(topic, 'lost'), messageTo(topic, 'with it')]),
      producer.publish([messageTo(topic, 'behind')]),
    ]);
    await producer.publish([messageTo(topic, 'after')]);
    const values: string[] = [];
    for await (const { value } of bus.read(topic.name, 0, 0, 100)) values.push(Buffer.from(value).toString());
    t.deepEqual(values, ['first', 'lost', 'with it', 'behind', 'after']);
  },
);

test.serial(
  'another client reads the published messages: keys, values of every size and headers beyond ASCII',
  async (t) => {
    const bus = await open(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const sizes = [0, 1, 63, 64, 127, 128, 8_191, 8_192, 70_000, 900_000];
    await (await bus.producer()).publish(
      sizes.map((size, index) =>
        messageTo(topic, Buffer.alloc(size, index), {
          key: `Schlüssel ${index}`,
          headers: { größe: String(size), leer: '' },
        }),
      ),
    );
    const consumer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).consumer({ groupId: topic.name });
    t.teardown(() => consumer.disconnect());
    await consumer.connect();
    await consumer.subscribe({ topic: topic.name, fromBeginning: true });
    const read: unknown[] = [];
    await new Promise<void>((resolve, reject) => {
      consumer
        .run({
          eachMessage: async ({ message: { key, value, headers } }) => {
            const same = value?.equals(Buffer.alloc(value.length, read.length));
            read.push([
              key?.toString(),
              value?.length,
              same,
              headers?.['größe']?.toString(),
              headers?.['leer']?.toString(),
            ]);
            if (read.length === sizes.length) resolve();
          },
        })
        .catch(reject);
    });
    t.deepEqual(
      read,
      sizes.map((size, index) => [`Schlüssel ${index}`, size, true, String(size), '']),
    );
  },
);
