/** The bus contract: consumer groups, batches, lag, back-pressure. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PermanentError } from '../../schemas/errors.ts';
import { computePartition } from '../../schemas/partition.ts';
import { test } from '../limit-concurrency.ts';
import { eventually, stretched } from '../waiting.ts';
import { type BusContract, consume, keysOf, messageTo, pending, quiet, someGroup, someTopic } from './bus-harness.ts';

const mebibyte = 1024 * 1024;

export const consumingContract = ({ name, make, quietMs }: BusContract): void => {
  test(`${name}: every group receives all messages from the earliest offset`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic({ partitions: 2 });
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    const texts = Array.from({ length: 40 }, (_, index) => `message ${index}`);
    const publish = (some: readonly string[]) => producer.publish(some.map((key) => messageTo(topic, key, { key })));
    await publish(texts.slice(0, 20));
    const groups = [consume(bus, [topic], { group: someGroup() }), consume(bus, [topic], { group: someGroup() })];
    await publish(texts.slice(20));
    for (const { texts: seen } of groups) await eventually('40 messages', () => seen.length >= 40);
    for (const { stop } of groups) await stop();
    for (const { texts: seen } of groups) t.deepEqual(seen.toSorted(), texts.toSorted());
  });

  test(`${name}: a group without members can be deleted, and then starts from the earliest offset`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    await producer.publish([messageTo(topic, 'first')]);
    const group = someGroup();
    const before = consume(bus, [topic], { group });
    await eventually('the message', () => before.texts.length === 1);
    const inUse = await t.throwsAsync(bus.deleteGroup(group), { instanceOf: PermanentError });
    t.is((inUse as PermanentError | undefined)?.reason, 'group-in-use');
    await before.stop();
    t.deepEqual(
      (await bus.lag(group, [topic.name])).map(({ lag }) => lag),
      [0],
    );
    await bus.deleteGroup(group);
    t.deepEqual(
      (await bus.lag(group, [topic.name])).map(({ lag }) => lag),
      [1],
    );
    const unknown = await t.throwsAsync(bus.deleteGroup(group), { instanceOf: PermanentError });
    t.is((unknown as PermanentError | undefined)?.reason, 'unknown-group');
    const after = consume(bus, [topic], { group });
    await eventually('the message again', () => after.texts.length === 1);
    await after.stop();
  });

  test(`${name}: members of a group share the partitions, and those of a leaving member move to the remaining members`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic({ partitions: 4 });
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    const keys = keysOf(4, computePartition);
    const group = someGroup();
    const busy = new Set<number>();
    let overlaps = 0;
    const onBatch = async ({ partition }: { partition: number }) => {
      if (busy.has(partition)) overlaps++;
      busy.add(partition);
      await quiet(5);
      busy.delete(partition);
    };
    const left = consume(bus, [topic], { group }, onBatch);
    const right = consume(bus, [topic], { group }, onBatch);
    let sent = 0;
    const send = async () => {
      await producer.publish(keys.map((key) => messageTo(topic, `${sent++}`, { key })));
      await quiet(20);
    };
    await eventually('both members to work', async () => {
      await send();
      return left.texts.length > 0 && right.texts.length > 0;
    });
    await right.stop();
    const before = right.batches.length;
    const seen = () => new Set([...left.texts, ...right.texts]);
    for (let i = 0; i < 5; i++) await send();
    await eventually('everything', () => seen().size === sent);
    await left.stop();
    t.is(right.batches.length, before);
    t.is(overlaps, 0);
    const all = [...left.texts, ...right.texts];
    t.is(all.length, sent, 'an acknowledged message came again');
  });

  test(`${name}: batches are consecutive, and acknowledged messages are not redelivered`, async (t) => {
    const created = await make(t);
    const topic = someTopic();
    await created.bus.ensureTopics([topic]);
    const producer = await created.bus.producer();
    const group = someGroup();
    const publish = (from: number, to: number) =>
      producer.publish(Array.from({ length: to - from }, (_, index) => messageTo(topic, `${from + index}`)));
    await publish(0, 25);
    const first = consume(created.bus, [topic], { group, maxRecords: 10 });
    await eventually('25 messages', () => first.texts.length >= 25);
    await first.stop();
    await publish(25, 30);
    const second = consume(created.bus, [topic], { group, maxRecords: 10 });
    await eventually('5 more messages', () => second.texts.length >= 5);
    await second.stop();
    const batches = [...first.batches, ...second.batches];
    let next = 0;
    for (const { first: from, last, records, partition, topic: of } of batches) {
      t.deepEqual([of, partition, from], [topic.name, 0, next]);
      t.deepEqual(
        records.map(({ offset }) => offset),
        Array.from({ length: last - from + 1 }, (_, index) => from + index),
      );
      next = last + 1;
    }
    t.is(next, 30);
  });

  test(`${name}: a batch closes at its maximum number of telemetry records`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    await producer.publish(Array.from({ length: 9 }, () => messageTo(topic, 'x', { headers: { records: '40' } })));
    const consuming = consume(bus, [topic], { group: someGroup(), maxRecords: 100, maxWaitMs: 200 });
    await eventually('9 messages', () => consuming.texts.length >= 9);
    await consuming.stop();
    t.deepEqual(
      consuming.batches.map(({ records }) => records.length),
      [3, 3, 3],
    );
  });

  test(`${name}: a batch closes at its maximum size, and a larger message is a batch of its own`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    const sizes = [100_000, 400_000, 100_000, 100_000];
    await producer.publish(sizes.map((size) => messageTo(topic, Buffer.alloc(size))));
    const consuming = consume(bus, [topic], { group: someGroup(), maxBytes: 250_000, maxWaitMs: 200 });
    await eventually('4 messages', () => consuming.texts.length >= 4);
    await consuming.stop();
    for (const { records } of consuming.batches) {
      const bytes = records.reduce((sum, { value }) => sum + value.length, 0);
      t.true(bytes <= 250_000 || records.length === 1, `${records.length} messages of ${bytes} bytes`);
    }
  });

  test(`${name}: the decompressed size of a message counts, not its size on the bus`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    await producer.publish(Array.from({ length: 9 }, () => messageTo(topic, 'x', { headers: { size: '100000' } })));
    const consuming = consume(bus, [topic], { group: someGroup(), maxBytes: 250_000, maxWaitMs: 200 });
    await eventually('9 messages', () => consuming.texts.length >= 9);
    await consuming.stop();
    t.deepEqual(
      consuming.batches.map(({ records }) => records.length),
      [3, 3, 3],
    );
  });

  test(`${name}: a batch that is not full closes after its maximum wait`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    const warmUp = pending();
    const maxWaitMs = stretched(700);
    const consuming = consume(bus, [topic], { group: someGroup(), maxWaitMs }, () => warmUp.resolve());
    await producer.publish([messageTo(topic, 'warm-up')]);
    await warmUp.promise;
    await eventually('the warm-up', () => consuming.texts.length === 1);
    // If publishing took most of the wait, the result is not conclusive, and two more messages are published.
    for (let published = 3, durationMs = maxWaitMs; durationMs > maxWaitMs / 2; published += 2) {
      const begun = performance.now();
      await producer.publish([messageTo(topic, 'early')]);
      await quiet(100);
      await producer.publish([messageTo(topic, 'late')]);
      durationMs = performance.now() - begun;
      await eventually('both', () => consuming.texts.length === published);
    }
    await consuming.stop();
    t.is(consuming.batches.at(-1)?.records.length, 2);
  });

  test(`${name}: a partition with a slow batch does not block the others`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic({ partitions: 2 });
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    const [slow = '', quick = ''] = keysOf(2, computePartition);
    const goOn = pending();
    const consuming = consume(bus, [topic], { group: someGroup() }, ({ partition }) =>
      partition === 0 ? goOn.promise : undefined,
    );
    await producer.publish([messageTo(topic, 'slow', { key: slow })]);
    await eventually('the slow batch', () => consuming.batches.length === 1);
    await producer.publish([messageTo(topic, 'quick', { key: quick })]);
    await eventually('the quick batch', () => consuming.texts.includes('quick'));
    t.deepEqual(consuming.texts, ['quick']);
    goOn.resolve();
    await eventually('the slow one too', () => consuming.texts.length === 2);
    await consuming.stop();
    t.pass();
  });

  test(`${name}: lag counts the messages that a group has not acknowledged`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    const group = someGroup();
    const lag = async () => {
      const [{ committed, end, lag } = { committed: -1, end: -1, lag: -1 }] = await bus.lag(group, [topic.name]);
      return { committed, end, lag };
    };
    t.deepEqual(await lag(), { committed: 0, end: 0, lag: 0 });
    await producer.publish([messageTo(topic, '1'), messageTo(topic, '2'), messageTo(topic, '3')]);
    t.deepEqual(await lag(), { committed: 0, end: 3, lag: 3 });
    const consuming = consume(bus, [topic], { group });
    await eventually('no lag', async () => (await lag()).lag === 0);
    await consuming.stop();
    await producer.publish([messageTo(topic, '4')]);
    t.deepEqual(await lag(), { committed: 3, end: 4, lag: 1 });
  });

  test(`${name}: the members of a group are counted, even if nothing was ever read`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const [group, other] = [someGroup(), someGroup()];
    const members = async () => {
      const counts = await bus.members([group, other]);
      return [group, other].map((each) => counts.get(each));
    };
    t.deepEqual(await members(), [0, 0]);
    const [first, second] = [consume(bus, [topic], { group }), consume(bus, [topic], { group })];
    await eventually('both have joined', async () => (await members())[0] === 2);
    await first.stop();
    await eventually('one has left', async () => (await members())[0] === 1);
    await second.stop();
    await eventually('none is there', async () => (await members())[0] === 0);
    t.deepEqual(await members(), [0, 0]);
  });

  test(`${name}: stop lets the in-flight batch finish and commits it`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    const group = someGroup();
    await producer.publish([messageTo(topic, 'first')]);
    const goOn = pending();
    const consuming = consume(bus, [topic], { group }, () => goOn.promise);
    await eventually('a batch', () => consuming.batches.length === 1);
    const stopped = consuming.stop();
    await quiet(50);
    goOn.resolve();
    await stopped;
    t.deepEqual(consuming.texts, ['first']);
    await producer.publish([messageTo(topic, 'second')]);
    const next = consume(bus, [topic], { group });
    await eventually('the second message', () => next.texts.length > 0);
    await next.stop();
    t.deepEqual(next.texts, ['second']);
  });

  test.serial(`${name}: a slow consumer uses bounded memory`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const held = () => {
      collect();
      return process.memoryUsage().arrayBuffers / mebibyte;
    };
    for (let i = 0; i < 16; i++)
      await producer.publish(Array.from({ length: 16 }, () => messageTo(topic, Buffer.alloc(mebibyte / 2, i))));
    const before = held();
    const goOn = pending();
    const consuming = consume(bus, [topic], { group: someGroup(), maxBytes: mebibyte }, () => goOn.promise);
    await eventually('a batch', () => consuming.batches.length > 0);
    await quiet(quietMs);
    const grown = held() - before;
    t.is(consuming.batches.length, 1);
    consuming.batches.length = 0;
    goOn.resolve();
    await consuming.consumer.stop();
    t.true(grown < 32, `${grown.toFixed()} MiB held of 128 published`);
  });
};
