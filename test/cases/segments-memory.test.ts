/**
 * Memory of reads from the embedded log: a handler can read the data until it resolves, and then the memory is reused.
 */
import test from 'ava';
import type { SegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import type { Batch } from '../../schemas/ports/bus.ts';
import { defineTopic } from '../../schemas/topic.ts';
import { segmentsUnderTest } from './segments-harness.ts';

const slow = defineTopic({ name: 'slow', summary: 'of a test', key: 'any' });
const busy = defineTopic({ name: 'busy', summary: 'of a test', key: 'any' });
const valueBytes = 512 * 1024;
const count = 32;

/** Publishes values, each filled with one byte value, from `first` on. */
const fill = async (bus: SegmentsBus, topic: string, first: number): Promise<void> => {
  const producer = await bus.producer();
  const values = Array.from({ length: count }, (_, index) => Buffer.alloc(valueBytes, first + index));
  await producer.publish(values.map((value) => ({ topic, key: 'key', value, headers: {} })));
};

const bytesOf = ({ records }: Batch): number[] =>
  records.map(({ value }) => (value.every((byte) => byte === value[0]) ? (value[0] ?? -1) : -1));

/** Consumes a whole topic in small batches. */
const consume = async (bus: SegmentsBus, topic: string, onBatch: (batch: Batch) => void | Promise<void>) => {
  const consumer = bus.createConsumer({ group: topic, maxBytes: 4 * valueBytes, maxWaitMs: 5 });
  const ended = Promise.withResolvers<void>();
  const running = consumer.run([topic], async (batch) => {
    await onBatch(batch);
    if (batch.last === count - 1) ended.resolve();
  });
  await Promise.race([ended.promise, running]);
  await consumer.stop();
  await running;
};

test('a batch preserves its records until acknowledged, regardless of other readers, and memory is reused', async (t) => {
  const bus = await (await segmentsUnderTest(t)).open();
  await bus.ensureTopics([slow, busy]);
  await fill(bus, slow.name, 0);
  await fill(bus, busy.name, 100);
  const started = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const slowly: number[] = [];
  const holding = consume(bus, slow.name, async (batch) => {
    started.resolve();
    await over.promise;
    slowly.push(...bytesOf(batch));
  });
  await started.promise;
  const read: number[] = [];
  const memory = new Set<ArrayBufferLike>();
  let batches = 0;
  await consume(bus, busy.name, (batch) => {
    batches++;
    read.push(...bytesOf(batch));
    for (const { value } of batch.records) memory.add(value.buffer);
  });
  over.resolve();
  await holding;
  const expected = Array.from({ length: count }, (_, index) => index);
  t.deepEqual(slowly, expected);
  t.deepEqual(
    read,
    expected.map((byte) => byte + 100),
  );
  t.true(batches >= 8);
  t.true(memory.size <= 4, `${memory.size} pieces of memory for ${batches} batches`);
});
