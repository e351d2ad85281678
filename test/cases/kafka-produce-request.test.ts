/** Produce requests as the driver reads them, and what is made of answers. */
import { produceV9, Reader } from '@platformatic/kafka';
import test from 'ava';
import { type Batch, produceAnswer, produceRequest } from '../../processors/adapters/bus-kafka/produce-request.ts';

const timeoutMs = 5_000;

const batch = (topic: string, partition: number, size = 10): Batch => ({
  topic,
  partition,
  bytes: Buffer.alloc(size, partition + 1),
});

const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
};
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const compact = (text: string): Buffer => {
  const length = text.length + 1;
  return Buffer.concat([
    Buffer.from(length < 128 ? [length] : [(length & 127) | 128, length >>> 7]),
    Buffer.from(text),
  ]);
};
const tags = Buffer.alloc(1);

/** An answer behind its number: error codes by topic and partition. */
const answer = (topics: Readonly<Record<string, readonly number[]>>): Buffer =>
  Buffer.concat([
    tags,
    Buffer.from([Object.keys(topics).length + 1]),
    ...Object.entries(topics).flatMap(([name, codes]) => [
      compact(name),
      Buffer.from([codes.length + 1]),
      ...codes.flatMap((code, index) => [int32(index), int16(code), Buffer.alloc(24), Buffer.from([1, 0]), tags]),
      tags,
    ]),
    int32(0),
    tags,
  ]);

/** What is made of an answer. */
const read = (bytes: Buffer): unknown => {
  const parser = produceAnswer(bytes.length);
  const { value: wanted } = parser.next();
  if (typeof wanted === 'object') bytes.copy(wanted as Buffer);
  const { done, value } = parser.next(typeof wanted === 'object' ? (wanted as Buffer) : bytes);
  return done === true ? value : 'not read to its end';
};

/** What a request says, read with the driver's reader. */
const spelled = (request: Buffer) => {
  const reader = Reader.from(request);
  const length = reader.readInt32();
  const head = {
    key: reader.readInt16(),
    version: reader.readInt16(),
    id: reader.readInt32(),
    client: reader.readString(false),
  };
  reader.readTaggedFields();
  const transaction = reader.readNullableString();
  const acks = reader.readInt16();
  const timeout = reader.readInt32();
  const topics = reader.readArray((topic) => ({
    name: topic.readString(),
    partitions: topic.readArray((partition) => ({ index: partition.readInt32(), bytes: partition.readBytes() })),
  }));
  reader.readTaggedFields();
  return { length, head, transaction, acks, timeout, topics, left: request.length - reader.position };
};

test('A request says what the driver would: topics together, each partition with its batch', (t) => {
  const batches = [
    batch('logs', 0),
    batch('metriken-größe', 2, 200),
    batch('logs', 1, 131_073),
    batch('logs', 3, 131_072),
  ];
  const parts = produceRequest(-7, 'oiq', batches, timeoutMs);
  t.is(parts.length, 3);
  t.is(parts[1], batches[2]?.bytes);
  const request = Buffer.concat(parts);
  const { length, head, transaction, acks, timeout, topics, left } = spelled(request);
  t.is(length, request.length - 4);
  t.deepEqual(head, { key: produceV9.api.key, version: produceV9.api.version, id: -7, client: 'oiq' });
  t.is(transaction, null);
  t.deepEqual([acks, timeout, left], [-1, timeoutMs, 0]);
  t.deepEqual(
    topics.map(({ name, partitions }) => [name, partitions.map(({ index, bytes }) => [index, bytes.length])]),
    [
      [
        'logs',
        [
          [0, 10],
          [1, 131_073],
          [3, 131_072],
        ],
      ],
      ['metriken-größe', [[2, 200]]],
    ],
  );
  t.deepEqual(topics[0]?.partitions[0]?.bytes, batches[0]?.bytes);
});

const long = `l${'o'.repeat(125)}`;

for (const topics of [
  { logs: [0] },
  { logs: [0, 0] },
  { logs: [0], metrics: [0] },
  { [long]: [0] },
  { [`${long}l`]: [0] },
])
  test(`An answer without an error is read to its end: ${JSON.stringify(topics)}`, (t) => {
    t.is(read(answer(topics as Readonly<Record<string, readonly number[]>>)), undefined);
  });

test('So is one of many partitions', (t) => {
  t.is(read(answer({ logs: Array.from({ length: 100 }, () => 0) })), undefined);
});

for (const [what, topics] of [
  ['the only partition', { logs: [6] }],
  ['the second partition', { logs: [0, 6] }],
  ['the second topic', { logs: [0], metrics: [6] }],
  ['a topic with a long name', { [long]: [6] }],
  ['the last of many partitions', { logs: [...Array.from({ length: 100 }, () => 0), 6] }],
] as const)
  test(`An error of ${what} is the driver's error`, (t) => {
    const error = read(answer(topics as Readonly<Record<string, readonly number[]>>));
    t.true(error instanceof AggregateError);
    t.deepEqual(
      (error as AggregateError).errors.map(({ apiId }: { apiId: string }) => apiId),
      ['NOT_LEADER_OR_FOLLOWER'],
    );
  });
