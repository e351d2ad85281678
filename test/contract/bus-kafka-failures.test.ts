/**
 * Failures that only Kafka has: unavailable brokers, killed members, damaged or deleted records. The tests run
 * serially, because processes and brokers that start at the same time slow each other down on a busy machine.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { openKafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import { filterCommittedRecords } from '../../adapters/bus-kafka/committed-offsets.ts';
import { assignPartitions } from '../../adapters/bus-kafka/membership.ts';
import { selectForRequest } from '../../adapters/bus-kafka/select-for-request.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { computePartition } from '../../schemas/partition.ts';
import { freePorts } from '../services/ports.ts';
import { startService, startServices } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { consume, keysOf, messageTo, pending, someGroup, someTopic } from './bus-harness.ts';

let brokers: string[] = [];

test.before(async () => {
  brokers = (await startServices(['kafka'])).url('kafka').split(',');
});

const open = async (t: ExecutionContext, servers = brokers) => {
  const bus = await openKafkaBus({ brokers: servers, sessionTimeoutMs: 6000 });
  t.teardown(() => bus.close());
  return bus;
};

const driver = (servers = brokers) => new Kafka({ brokers: servers, logLevel: logLevel.NOTHING });

const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
};

/** Runs `bus-kafka-member.ts`; `lines` is its output so far. */
const startMember = (t: ExecutionContext, group: string, topic: string) => {
  const script = fileURLToPath(new URL('bus-kafka-member.ts', import.meta.url));
  const child = spawn(process.execPath, [script, brokers.join(','), group, topic], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => stop(child));
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  return { child, lines };
};

test.serial(
  'a member killed with SIGKILL leaves its range behind, and the next member starts with exactly that range',
  async (t) => {
    const bus = await open(t);
    const topic = someTopic();
    const group = someGroup();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    await producer.publish(['1', '2', '3'].map((text) => messageTo(topic, text)));

    const { child, lines } = startMember(t, group, topic.name);
    await eventually('a range', () => lines.length === 2);
    await producer.publish(['4', '5'].map((text) => messageTo(topic, text)));
    await stop(child);

    let claimed: boolean | undefined;
    const next = consume(bus, [topic], { group }, undefined, {
      onAssigned: (partition) => {
        claimed ??= partition.isClaimed;
      },
    });
    await eventually('all five', () => next.texts.length >= 5);
    await next.stop();
    t.deepEqual(lines, ['assigned', `range ${next.ranges[0]?.split(':')[2]}`]);
    t.true(claimed);
    t.deepEqual(next.texts, ['1', '2', '3', '4', '5']);
  },
);

test.serial(
  'a member paused beyond its session timeout is notified, when it resumes, that its partition was revoked',
  async (t) => {
    const bus = await open(t);
    const topic = someTopic();
    const group = someGroup();
    await bus.ensureTopics([topic]);
    const { child, lines } = startMember(t, group, topic.name);
    await eventually('the partition', () => lines.length === 1);
    child.kill('SIGSTOP');
    let assigned = 0;
    const next = consume(bus, [topic], { group }, undefined, { onAssigned: () => void assigned++ });
    await eventually('its successor', () => assigned === 1);
    t.deepEqual(lines, ['assigned']);
    child.kill('SIGCONT');
    await eventually('the revocation', () => lines.length > 1);
    t.deepEqual(lines.slice(0, 2), ['assigned', 'revoked']);
    await next.stop();
    await eventually('the partition again', () => lines.at(-1) === 'assigned' && lines.length > 2);
  },
);

test.serial(
  'a batch that takes longer than the session timeout keeps its partition and is delivered once',
  async (t) => {
    const bus = await open(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    await (await bus.producer()).publish([messageTo(topic, 'slow')]);
    const consuming = consume(bus, [topic], { group: someGroup() }, () => sleep(8000));
    await eventually('the slow batch', () => consuming.texts.length > 0);
    await consuming.stop();
    t.is(consuming.batches.length, 1);
  },
);

const isRebalancing = async (t: ExecutionContext, group: string): Promise<boolean> => {
  const admin = driver().admin();
  t.teardown(() => admin.disconnect());
  const { groups } = await admin.describeGroups([group]);
  return groups[0]?.state === 'PreparingRebalance' && groups[0].members.length === 2;
};

test.serial('a joining member gets no partition until the in-flight batch of that partition is finished', async (t) => {
  const bus = await open(t);
  const topic = someTopic({ partitions: 2 });
  const group = someGroup();
  await bus.ensureTopics([topic]);
  const keys = keysOf(2, computePartition);
  await (await bus.producer()).publish(keys.map((key) => messageTo(topic, key, { key })));
  const held = pending();
  let assigned = 0;
  const left = consume(bus, [topic], { group }, () => held.promise);
  await eventually('both batches in hand', () => left.batches.length === 2);
  const right = consume(bus, [topic], { group }, undefined, { onAssigned: () => void assigned++ });
  await eventually('the join waits', () => isRebalancing(t, group));
  await sleep(500);
  t.is(assigned, 0);
  held.resolve();
  await eventually('a partition for who joined', () => assigned > 0);
  await Promise.all([left.stop(), right.stop()]);
  t.deepEqual(left.texts.toSorted(), keys.toSorted());
  t.deepEqual(right.batches, []);
});

test.serial('a member that is stopped while it joins leaves at once, and the others continue', async (t) => {
  const bus = await open(t);
  const topic = someTopic({ partitions: 2 });
  const group = someGroup();
  await bus.ensureTopics([topic]);
  const producer = await bus.producer();
  await producer.publish([messageTo(topic, 'held')]);
  const held = pending();
  const working = consume(bus, [topic], { group }, () => held.promise);
  await eventually('a batch in hand', () => working.batches.length === 1);
  // The join waits for the in-flight batch.
  const joining = consume(bus, [topic], { group });
  await eventually('the join waits', () => isRebalancing(t, group));
  await joining.stop();
  held.resolve();
  await eventually('the batch', () => working.texts.length === 1);
  await producer.publish(keysOf(2, computePartition).map((key) => messageTo(topic, key, { key })));
  await eventually('both partitions', () => working.texts.length === 3);
  await working.stop();
  t.deepEqual(joining.batches, []);
  t.is(working.batches.length, new Set(working.ranges).size);
});

test.serial('a group under a new name waits until the members of the former group have left', async (t) => {
  const bus = await open(t);
  const topic = someTopic({ partitions: 2 });
  const former = someGroup();
  const group = `sinks.${former}`;
  await bus.ensureTopics([topic]);
  const producer = await bus.producer();
  const keys = keysOf(2, computePartition);
  const send = (text: string) => producer.publish(keys.map((key) => messageTo(topic, `${text} ${key}`, { key })));
  await send('1');
  const old = consume(bus, [topic], { group: former });
  await eventually('what the former one consumes', () => old.texts.length === 2);
  const members = [consume(bus, [topic], { group }), consume(bus, [topic], { group })];
  await sleep(2000);
  await send('2');
  await eventually('what the former one consumes', () => old.texts.length === 4);
  t.deepEqual(
    members.flatMap(({ batches }) => batches),
    [],
  );
  await old.stop();
  await send('3');
  await eventually('the rest', () => members.flatMap(({ texts }) => texts).length >= 2);
  await Promise.all(members.map((member) => member.stop()));
  t.deepEqual(members.flatMap(({ texts }) => texts).toSorted(), keys.map((key) => `3 ${key}`).toSorted());
});

test.serial(
  'while the broker is down, publishing rejects quickly, and both sides resume by themselves when it is back',
  async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'bus-kafka-'));
    const [port = 0] = await freePorts(1);
    const broker = await startService('kafka', { port, directory });
    t.teardown(async () => {
      await broker.kill();
      await rm(directory, { recursive: true, force: true });
    });
    const bus = await open(t, [broker.url]);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    await producer.publish([messageTo(topic, 'before')]);
    const group = someGroup();
    const consuming = consume(bus, [topic], { group });
    await eventually('the first message', async () => {
      const [lag] = await bus.lag(group, [topic.name]);
      return consuming.texts.length === 1 && lag?.lag === 0;
    });

    await broker.kill();
    const error = await t.throwsAsync(() => producer.publish([messageTo(topic, 'lost')]));
    t.true(error instanceof UnavailableError, String(error));
    await t.throwsAsync(() => bus.check(), { instanceOf: UnavailableError });

    await broker.start();
    let tries = 0;
    await eventually('publishing to work', async () => {
      try {
        await producer.publish([messageTo(topic, `try ${++tries}`)]);
        return true;
      } catch {
        return false;
      }
    });
    await eventually('the message after it', () => consuming.texts.includes(`try ${tries}`));
    await t.notThrowsAsync(() => bus.check());
    t.true((await bus.offsets(topic.name)).length > 0);
    await consuming.stop();
    // Messages that were rejected with an unknown result may or may not be stored; no message is stored twice.
    t.deepEqual(consuming.texts, [...new Set(consuming.texts)]);
    t.is(consuming.texts[0], 'before');
  },
);

test.serial(
  'a record whose value does not match its checksum is named, after the records before it were delivered',
  async (t) => {
    const bus = await open(t);
    const topic = someTopic();
    await bus.ensureTopics([topic]);
    await (await bus.producer()).publish([messageTo(topic, 'good')]);
    const raw = driver().producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await raw.connect();
    t.teardown(() => raw.disconnect());
    await raw.send({ topic: topic.name, messages: [{ value: 'bad', partition: 0, headers: { crc32: 'deadbeef' } }] });

    const consuming = consume(bus, [topic], { group: someGroup() });
    const error = await t.throwsAsync(consuming.running);
    t.regex(error?.message ?? '', new RegExp(`record 1 of partition 0 of topic ${topic.name} is damaged`));
    t.deepEqual(consuming.texts, ['good']);
    await t.throwsAsync(
      async () => {
        for await (const _ of bus.read(topic.name, 0, 0, 2));
      },
      { message: /record 1 of partition 0/ },
    );
  },
);

test.serial(
  'an offset that is no longer retained stops the consumer, which names the gap, and the group keeps its position',
  async (t) => {
    const bus = await open(t);
    const topic = someTopic();
    const group = someGroup();
    await bus.ensureTopics([topic]);
    const producer = await bus.producer();
    await producer.publish([messageTo(topic, '0')]);
    const first = consume(bus, [topic], { group });
    await eventually('the first message', () => first.texts.length === 1);
    await first.stop();
    for (let i = 1; i < 6; i++) await producer.publish([messageTo(topic, `${i}`)]);
    const admin = driver().admin();
    await admin.connect();
    t.teardown(() => admin.disconnect());
    // The admin client deletes only records of topics whose metadata it has requested.
    await admin.fetchTopicOffsets(topic.name);
    await admin.deleteTopicRecords({ topic: topic.name, partitions: [{ partition: 0, offset: '4' }] });

    const second = consume(bus, [topic], { group });
    const error = await t.throwsAsync(second.running);
    t.regex(error?.message ?? '', new RegExp(`offset 1 of partition 0 of topic ${topic.name} .* from 4\\.`));
    t.deepEqual(second.batches, []);
    const [lag] = await bus.lag(group, [topic.name]);
    t.is(lag?.committed, 1);
  },
);

test.serial('a topic that does not exist is named by publish and by consume', async (t) => {
  const bus = await open(t);
  const topic = someTopic();
  const producer = await bus.producer();
  const unknown = new RegExp(`no topic ${topic.name}`);
  await t.throwsAsync(() => producer.publish([messageTo(topic, 'x')]), {
    instanceOf: UnavailableError,
    message: unknown,
  });
  await t.throwsAsync(consume(bus, [topic], { group: someGroup() }).running, { message: unknown });
});

test.serial('read ends before a transaction that is still open', async (t) => {
  const bus = await open(t);
  const topic = someTopic();
  await bus.ensureTopics([topic]);
  const producer = await bus.producer();
  await producer.publish([messageTo(topic, 'visible')]);
  const published = pending();
  const goOn = pending();
  const transaction = producer.transaction(someGroup(), async (publish) => {
    await publish([messageTo(topic, 'not yet')]);
    published.resolve();
    await goOn.promise;
  });
  await Promise.race([published.promise, transaction]);
  const texts: string[] = [];
  for await (const { value } of bus.read(topic.name, 0, 0, 100)) texts.push(value.toString());
  t.deepEqual(texts, ['visible']);
  goOn.resolve();
  await transaction;
});

type Batches = NonNullable<Parameters<typeof filterCommittedRecords>[0]['records']>;
const recordsBatch = (firstOffset: number, count: number, producerId: number, attributes: number, marker = 1) => {
  const key = attributes === 0x30 ? Buffer.from([0, 0, 0, marker]) : null;
  const record = { length: 0, attributes: 0, timestampDelta: 0n, key, value: null, headers: [] };
  return {
    length: 0,
    partitionLeaderEpoch: 0,
    magic: 2,
    crc: 0,
    attributes,
    lastOffsetDelta: count - 1,
    firstOffset: BigInt(firstOffset),
    firstTimestamp: 0n,
    maxTimestamp: 0n,
    producerId: BigInt(producerId),
    producerEpoch: 0,
    firstSequence: 0,
    records: Array.from({ length: count }, (_, offsetDelta) => ({ ...record, offsetDelta })),
  };
};
const [plain, transactional, control] = [0, 0x10, 0x30];
const [abort, commit] = [0, 1];

const pieces: readonly {
  readonly title: string;
  readonly batches: Batches;
  readonly aborted: readonly (readonly [producerId: number, firstOffset: number])[];
  readonly from?: number;
  readonly seen: readonly number[];
  readonly next: number;
}[] = [
  {
    title: 'records before the offset that was asked for are left out',
    batches: [recordsBatch(0, 5, -1, plain)],
    aborted: [],
    from: 3,
    seen: [3, 4],
    next: 5,
  },
  {
    title: 'a committed transaction is seen, its marker is not',
    batches: [recordsBatch(0, 2, 7, transactional), recordsBatch(2, 1, 7, control, commit)],
    aborted: [],
    seen: [0, 1],
    next: 3,
  },
  {
    title: 'an aborted transaction whose marker lies beyond the piece is hidden, others between it are not',
    batches: [
      recordsBatch(0, 2, 7, transactional),
      recordsBatch(2, 2, -1, plain),
      recordsBatch(4, 1, 7, transactional),
    ],
    aborted: [[7, 0]],
    seen: [2, 3],
    next: 5,
  },
  {
    title: 'two aborted transactions of one producer hide what is theirs and not the committed one between them',
    batches: [
      recordsBatch(0, 1, 7, transactional),
      recordsBatch(1, 1, 7, control, abort),
      recordsBatch(2, 1, 7, transactional),
      recordsBatch(3, 1, 7, control, commit),
      recordsBatch(4, 1, 7, transactional),
      recordsBatch(5, 1, 7, control, abort),
    ],
    aborted: [
      [7, 4],
      [7, 0],
    ],
    seen: [2],
    next: 6,
  },
];

for (const { title, batches, aborted, from = 0, seen, next } of pieces)
  test.serial(`in a fetched piece, ${title}`, (t) => {
    const abortedTransactions = aborted.map(([id, first]) => ({ producerId: BigInt(id), firstOffset: BigInt(first) }));
    const found = filterCommittedRecords({ records: batches, abortedTransactions }, from);
    t.deepEqual(
      found.records.map(({ offset }) => offset),
      [...seen],
    );
    t.is(found.next, next);
  });

test.serial('one request takes the messages within each partition’s limit, and the rest keep their order', (t) => {
  const entry = (name: string, partition: number, bytes: number) => ({
    name,
    topic: 'a',
    partition,
    bytes,
    key: Buffer.alloc(0),
    value: Buffer.alloc(0),
    headers: {},
  });
  const queue = [entry('1', 0, 600), entry('2', 0, 600), entry('3', 0, 10), entry('4', 1, 600), entry('5', 2, 5000)];
  const { round, remaining } = selectForRequest(queue, () => 1000);
  t.deepEqual(
    round.map(({ name }) => name),
    ['1', '4', '5'],
  );
  t.deepEqual(
    remaining.map(({ name }) => name),
    ['2', '3'],
  );
});

test.serial('partitions are assigned evenly, each to one member that subscribes to its topic', (t) => {
  const assigned = assignPartitions(
    new Map([
      ['a', 4],
      ['b', 3],
    ]),
    [
      { memberId: 'right', topics: ['a', 'b'] },
      { memberId: 'left', topics: ['a'] },
    ],
  );
  t.deepEqual(
    [...assigned],
    [
      ['left', { a: [0, 2] }],
      ['right', { a: [1, 3], b: [0, 1, 2] }],
    ],
  );
});
