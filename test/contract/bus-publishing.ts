/** The bus contract: publishing, transactions, retention, reading of ranges. */
import { PermanentError } from '../../schemas/errors.ts';
import { computePartition } from '../../schemas/partition.ts';
import type { Bus, BusRecord } from '../../schemas/ports/bus.ts';
import { test } from '../limit-concurrency.ts';
import { eventually } from '../waiting.ts';
import {
  type BusContract,
  type BusUnderTest,
  consume,
  keysOf,
  messageTo,
  pending,
  quiet,
  someGroup,
  someTopic,
} from './bus-harness.ts';

const readAll = async (bus: Bus, topic: string, partition: number, from: number, to: number): Promise<BusRecord[]> => {
  const records: BusRecord[] = [];
  for await (const record of bus.read(topic, partition, from, to)) records.push(record);
  return records;
};

const earliest = async (bus: Bus, topic: string): Promise<number> => (await bus.offsets(topic))[0]?.earliest ?? -1;

export const publishingContract = ({ name, make, quietMs }: BusContract): void => {
  test(`${name}: messages of one key keep the order of the calls`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic({ partitions: 3 });
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    const texts = Array.from({ length: 300 }, (_, index) => `message ${index}`);
    await Promise.all(texts.map((text) => producer.publish([messageTo(topic, text)])));
    const consuming = consume(bus, [topic], { group: someGroup() });
    await eventually('300 messages', () => consuming.texts.length >= 300);
    await consuming.stop();
    t.deepEqual(consuming.texts, texts);
  });

  test(`${name}: a key is mapped to the partition of Kafka's default partitioner`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic({ partitions: 4 });
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    const keys = Array.from({ length: 100 }, (_, index) => `tenant-${index}/ø${index % 3}`);
    await producer.publish(keys.map((key) => messageTo(topic, key, { key })));
    const found = new Map<string, number>();
    for (const { partition, end } of await bus.offsets(topic.name))
      for (const record of await readAll(bus, topic.name, partition, 0, end)) found.set(record.key, partition);
    t.deepEqual(found, new Map([...found.keys()].map((key) => [key, computePartition(key, 4)])));
    t.is(found.size, 100);
  });

  test(`${name}: key, value, headers and timestamp are read back as they were published`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    const before = Date.now();
    const cases = [
      { key: 'plain', value: Buffer.from('value'), headers: { tenant: 'acme', records: '12' } },
      { key: 'ключ 鍵 🔑', value: Buffer.from([0, 255, 128, 10]), headers: { größe: '„groß“ 🐘', empty: '' } },
      { key: 'empty', value: Buffer.alloc(0), headers: {} },
    ];
    await producer.publish(cases.map((message) => ({ topic: topic.name, ...message })));
    const records = await readAll(bus, topic.name, 0, 0, 3);
    t.deepEqual(
      records.map(({ offset, key, value, headers }) => ({ offset, key, value: [...value], headers: { ...headers } })),
      cases.map(({ key, value, headers }, offset) => ({ offset, key, value: [...value], headers })),
    );
    // The clock of a broker may differ slightly from the clock of the test.
    for (const { timestampMs } of records) t.true(timestampMs >= before - 5000 && timestampMs <= Date.now() + 5000);
  });

  test(`${name}: a message of the topic's maximum size is accepted, and one byte more is a PermanentError`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    const value = Buffer.alloc(topic.maxMessageBytes);
    for (let i = 0; i < value.length; i++) value[i] = (i * 31) >> 3;
    await producer.publish([messageTo(topic, value), messageTo(topic, value)]);
    const error = await t.throwsAsync(() => producer.publish([messageTo(topic, Buffer.alloc(value.length + 1))]));
    t.true(error instanceof PermanentError);
    const consuming = consume(bus, [topic], { group: someGroup() });
    await eventually('both large messages', () => consuming.texts.length >= 2);
    await consuming.stop();
    const records = consuming.batches.flatMap((batch) => batch.records);
    t.is(records.length, 2);
    for (const record of records) t.true(record.value.equals(value));
  });

  test(`${name}: ensureTopics may be called again, adds partitions and never removes any`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic({ partitions: 2 });
    await bus.ensureTopics([topic]);
    await bus.ensureTopics([topic]);
    await bus.ensureTopics([{ ...topic, partitions: 3, embeddedPartitions: 3 }]);
    await bus.ensureTopics([{ ...topic, partitions: 1, embeddedPartitions: 1 }]);
    t.deepEqual(await bus.offsets(topic.name), [
      { partition: 0, earliest: 0, end: 0 },
      { partition: 1, earliest: 0, end: 0 },
      { partition: 2, earliest: 0, end: 0 },
    ]);
  });

  test(`${name}: a usable bus reports that it is ready`, async (t) => {
    const { bus } = await make(t);
    await t.notThrowsAsync(bus.check());
  });

  test(`${name}: read returns exactly the records of a range`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    for (let i = 0; i < 5; i++) await producer.publish([messageTo(topic, `a${i}`), messageTo(topic, `b${i}`)]);
    const offsets = async (from: number, to: number) =>
      (await readAll(bus, topic.name, 0, from, to)).map(({ offset }) => offset);
    t.deepEqual(await offsets(3, 6), [3, 4, 5]);
    t.deepEqual(await offsets(9, 100), [9]);
    t.deepEqual(await offsets(4, 4), []);
    t.deepEqual(await offsets(10, 20), []);
  });

  transactions({ name, make, quietMs });
  retention({ name, make, quietMs });
};

const transactions = ({ name, make, quietMs }: BusContract): void => {
  test(`${name}: the messages of a transaction become visible all at once when its work resolves`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic({ partitions: 2 });
    const marks = someTopic();
    await bus.ensureTopics([topic, marks]);
    const producer = await bus.producer();
    const [left = '', right = ''] = keysOf(2, computePartition);
    const consuming = consume(bus, [topic, marks], { group: someGroup() });
    const published = pending();
    const goOn = pending();
    const transaction = producer.transaction(someGroup(), async (publish) => {
      await publish([messageTo(topic, 'one', { key: left }), messageTo(topic, 'two', { key: right })]);
      await publish([messageTo(marks, 'mark')]);
      published.resolve();
      await goOn.promise;
      return 'result';
    });
    await Promise.race([published.promise, transaction]);
    await quiet(quietMs);
    t.deepEqual(consuming.batches, []);
    goOn.resolve();
    t.is(await transaction, 'result');
    await eventually('three messages', () => consuming.texts.length >= 3);
    await consuming.stop();
    t.deepEqual(consuming.texts.toSorted(), ['mark', 'one', 'two']);
  });

  test(`${name}: the messages of a rejected transaction are never seen, and later messages are`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    await producer.publish([messageTo(topic, 'before')]);
    const failure = new Error('changed my mind');
    const transaction = producer.transaction(someGroup(), async (publish) => {
      await publish([messageTo(topic, 'never'), messageTo(topic, 'never')]);
      throw failure;
    });
    t.is(await t.throwsAsync(transaction), failure);
    await producer.publish([messageTo(topic, 'after')]);
    const consuming = consume(bus, [topic], { group: someGroup() });
    await eventually('the message after it', () => consuming.texts.includes('after'));
    await consuming.stop();
    t.deepEqual(consuming.texts, ['before', 'after']);
    const { end = 0 } = (await bus.offsets(topic.name))[0] ?? {};
    const read = await readAll(bus, topic.name, 0, 0, end);
    t.deepEqual(
      read.map(({ value }) => value.toString()),
      ['before', 'after'],
    );
  });

  test(`${name}: a later holder of a transactional ID fences out the earlier holder`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    const name = someGroup();
    const begun = pending();
    const goOn = pending();
    const earlier = producer.transaction(name, async (publish) => {
      await publish([messageTo(topic, 'earlier')]);
      begun.resolve();
      await goOn.promise;
      await publish([messageTo(topic, 'earlier')]);
    });
    await begun.promise;
    await (await bus.producer()).transaction(name, (publish) => publish([messageTo(topic, 'later')]));
    goOn.resolve();
    await t.throwsAsync(earlier);
    await producer.publish([messageTo(topic, 'end')]);
    const consuming = consume(bus, [topic], { group: someGroup() });
    await eventually('the end', () => consuming.texts.includes('end'));
    await consuming.stop();
    t.deepEqual(consuming.texts, ['later', 'end']);
  });

  test(`${name}: a message above the topic's maximum size also rejects inside a transaction, and nothing of that transaction is seen`, async (t) => {
    const { bus } = await make(t);
    const topic = someTopic({ maxMessageBytes: 1000 });
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    const transaction = producer.transaction(someGroup(), async (publish) => {
      await publish([messageTo(topic, 'fits')]);
      await publish([messageTo(topic, Buffer.alloc(topic.maxMessageBytes + 1))]);
    });
    t.true((await t.throwsAsync(transaction)) instanceof PermanentError);
    await producer.publish([messageTo(topic, 'end')]);
    const consuming = consume(bus, [topic], { group: someGroup() });
    await eventually('the end', () => consuming.texts.includes('end'));
    await consuming.stop();
    t.deepEqual(consuming.texts, ['end']);
  });
};

const mebibyte = 1024 * 1024;

const retention = ({ name, make }: BusContract): void => {
  /** 12 MiB in messages of 256 KiB. */
  const fill = async ({ bus }: BusUnderTest, topic: ReturnType<typeof someTopic>) => {
    const producer = await bus.producer();
    for (let i = 0; i < 48; i++) await producer.publish([messageTo(topic, Buffer.alloc(mebibyte / 4, i + 1))]);
  };

  test(`${name}: a partition retains no more than its size, and reports which offsets are gone`, async (t) => {
    const created = await make(t);
    const { bus } = created;
    const topic = someTopic({ retentionBytes: 4 * mebibyte });
    await bus.ensureTopics([topic]);
    await fill(created, topic);
    await eventually('old segments to go', async () => {
      await created.retain?.();
      return (await earliest(bus, topic.name)) > 0;
    });
    let first = 0;
    let storedRecords: readonly BusRecord[] = [];
    await eventually('what is kept is read while nothing goes', async () => {
      const [offsets] = await bus.offsets(topic.name);
      t.is(offsets?.end, 48);
      first = offsets?.earliest ?? 0;
      storedRecords = await readAll(bus, topic.name, 0, first, 48).catch(() => []);
      return storedRecords.length > 0;
    });
    t.true(storedRecords.length >= 12, `${storedRecords.length} messages kept`);
    t.is(storedRecords[0]?.value[0], first + 1);
    await t.throwsAsync(() => readAll(bus, topic.name, 0, 0, 48), { message: /\b0\b/ });
    const follower = bus.createFollower();
    await t.throwsAsync(follower.next(topic.name, 0, 0), { message: /\b0\b/ });
    await follower.close();
  });

  test(`${name}: a partition retains nothing older than its maximum age`, async (t) => {
    const created = await make(t);
    const { bus } = created;
    const topic = someTopic({ retentionHours: 1 / 3600 });
    await bus.ensureTopics([topic]);
    await fill(created, topic);
    await eventually('old segments to go', async () => {
      await created.retain?.();
      return (await earliest(bus, topic.name)) > 0;
    });
    t.is((await bus.offsets(topic.name))[0]?.end, 48);
  });
};
