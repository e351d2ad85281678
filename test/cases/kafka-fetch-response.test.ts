/** Fetch responses, parsed while they arrive from a socket, compared with the parser of the driver. */

import { crc32 } from 'node:zlib';
import { fetchV15, Reader, Writer } from '@platformatic/kafka';
import test from 'ava';
import { BufferPool } from '../../adapters/buffer-pool.ts';
import { FetchBuffer, type Parser } from '../../adapters/bus-kafka/fetch-buffer.ts';
import {
  type FetchResponse,
  type PartitionResponse,
  parseFetchResponse,
} from '../../adapters/bus-kafka/fetch-response.ts';
import { encodeRecordBatch } from '../../adapters/bus-kafka/record-batch.ts';

interface Partition {
  readonly index: number;
  readonly error?: number;
  readonly aborted?: readonly (readonly [producerId: number, firstOffset: number])[] | null;
  readonly records: Buffer | null;
  /** Sizes of tagged fields. */
  readonly tags?: readonly number[];
}

const tagged = (writer: Writer, sizes: readonly number[] = []): Writer => {
  writer.appendUnsignedVarInt(sizes.length);
  for (const [tag, size] of sizes.entries())
    writer
      .appendUnsignedVarInt(tag + 20)
      .appendUnsignedVarInt(size)
      .append(Buffer.alloc(size, 255));
  return writer;
};

const appendPartition = (writer: Writer, { index, error = 0, aborted = [], records, tags }: Partition): void => {
  writer.appendInt32(index).appendInt16(error).appendInt64(9n).appendInt64(8n).appendInt64(7n);
  writer.appendUnsignedVarInt(aborted === null ? 0 : aborted.length + 1);
  for (const [id, first] of aborted ?? []) tagged(writer.appendInt64(BigInt(id)).appendInt64(BigInt(first)));
  writer.appendInt32(-1).appendUnsignedVarInt(records === null ? 0 : records.length + 1);
  tagged(records === null ? writer : writer.append(records), tags);
};

const written = (topics: readonly (readonly Partition[])[], error = 0): Buffer => {
  const writer = tagged(Writer.create(), [3]).appendInt32(0).appendInt16(error).appendInt32(0);
  writer.appendUnsignedVarInt(topics.length + 1);
  for (const partitions of topics) {
    writer.appendUUID('00112233-4455-6677-8899-aabbccddeeff').appendUnsignedVarInt(partitions.length + 1);
    for (const partition of partitions) appendPartition(writer, partition);
    tagged(writer);
  }
  return tagged(writer, [0, 2000]).buffer;
};

const batchOf = (...bytes: readonly number[]): Buffer =>
  encodeRecordBatch(
    bytes.map((size) => ({
      topic: 'a',
      partition: 0,
      key: Buffer.from('key'),
      bytes: size,
      headers: { records: '5', name: 'ü' },
      value: Buffer.alloc(size, size),
    })),
    1_000,
    { producerId: 5n, epoch: 0, first: 0 },
  );

const wholeBatches = Buffer.concat([batchOf(10, 20), batchOf(70_000), batchOf(0)]);
const answers: readonly {
  readonly title: string;
  readonly topics: readonly (readonly Partition[])[];
  readonly error?: number;
}[] = [
  { title: 'nothing', topics: [] },
  { title: 'an error of the request', topics: [], error: 70 },
  {
    title: 'partitions without records',
    topics: [
      [
        { index: 1, records: null },
        { index: 2, records: Buffer.alloc(0) },
      ],
    ],
  },
  {
    title: 'an error of one partition',
    topics: [[{ index: 0, records: wholeBatches }], [{ index: 3, error: 6, records: null }]],
  },
  { title: 'record batches', topics: [[{ index: 0, records: wholeBatches, tags: [1, 3000] }]] },
  {
    title: 'a truncated last batch',
    topics: [
      [
        { index: 0, records: wholeBatches.subarray(0, -30) },
        { index: 1, records: batchOf(5) },
      ],
    ],
  },
  { title: 'a piece that fills a slab', topics: [[{ index: 0, records: batchOf(1_100_000) }]] },
  {
    title: 'more aborted transactions than fit the memory in which small parts are read',
    topics: [
      [{ index: 0, aborted: Array.from({ length: 9_000 }, (_, at) => [at, 2 * at] as const), records: batchOf(3) }],
    ],
  },
  {
    title: 'aborted transactions',
    topics: [
      [
        {
          index: 0,
          aborted: [
            [7, 1],
            [8, 200],
          ],
          records: batchOf(1),
        },
        { index: 1, aborted: null, records: batchOf(2) },
      ],
    ],
  },
];

const textOf = (bytes: Buffer | null): string =>
  bytes === null ? 'null' : bytes.length > 100 ? `${bytes.length} ${crc32(bytes)}` : bytes.toString('hex');

type Read = Pick<FetchResponse, 'errorCode'> & {
  readonly responses: readonly {
    readonly topicId: string;
    readonly partitions: readonly (Pick<PartitionResponse, 'partitionIndex' | 'errorCode'> & {
      readonly abortedTransactions: PartitionResponse['abortedTransactions'] | null;
      readonly records?: PartitionResponse['records'] | null;
    })[];
  }[];
};

/** The visible content of a response as text. */
const seen = ({ errorCode, responses }: Read): string[] => [
  `error ${errorCode}`,
  ...responses.flatMap(({ topicId, partitions }) =>
    partitions.flatMap(({ partitionIndex, errorCode: code, abortedTransactions, records }) => [
      `${topicId} ${partitionIndex} ${code}`,
      ...(abortedTransactions ?? []).map(({ producerId, firstOffset }) => `${producerId} from ${firstOffset}`),
      ...(records ?? []).flatMap((batch) => [
        `${batch.firstOffset} ${batch.lastOffsetDelta} ${batch.producerId} ${batch.attributes}`,
        ...batch.records.map(({ key, value, headers }) => [key, value, ...headers.flat()].map(textOf).join(' ')),
      ]),
    ]),
  ),
];

const byDriver = (bytes: Buffer) => {
  const reader = Reader.from(bytes);
  reader.readTaggedFields();
  try {
    return seen(fetchV15.parseResponse(0, 1, 15, reader));
  } catch (error) {
    return seen((error as { response: FetchResponse }).response);
  }
};

/** Pseudorandom numbers below `max`, the same for the same seed. */
const dice = (seed: number) => {
  let state = seed;
  return (max: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * max);
  };
};

function* collect<Answer>(parser: Parser<Answer>, answers: Answer[]): Parser<void> {
  answers.push(yield* parser);
}

for (const { title, topics, error } of answers)
  test(`a response with ${title} is parsed whatever its chunks`, (t) => {
    const bytes = written(topics, error);
    const expected = byDriver(bytes);
    for (let seed = 1; seed <= 24; seed++) {
      const next = dice(seed);
      const largest = [bytes.length < 3_000 ? 1 + next(8) : 1_000, 5_000, 70_000, bytes.length * 2][seed % 4] ?? 1;
      const answers: FetchResponse[] = [];
      const bufferPool = new BufferPool();
      const intake = new FetchBuffer(() => collect(parseFetchResponse(bufferPool), answers));
      // Two consecutive responses, randomly read into `writeBuffer` or appended as separate buffers.
      const both = Buffer.concat([bytes, bytes]);
      for (let at = 0; at < both.length; ) {
        const part = both.subarray(at, at + 1 + next(largest));
        if (next(2) === 0) {
          intake.append(part);
          at += part.length;
        } else {
          const copied = part.copy(intake.writeBuffer);
          intake.advance(copied);
          at += copied;
        }
      }
      t.deepEqual(answers.map(seen), [expected, expected], `seed ${seed}`);
    }
  });

test('records are written directly into their final memory', (t) => {
  const answers: FetchResponse[] = [];
  const bufferPool = new BufferPool();
  const intake = new FetchBuffer(() => collect(parseFetchResponse(bufferPool), answers));
  const bytes = written([[{ index: 0, records: batchOf(1_100_000) }]]);
  intake.advance(bytes.copy(intake.writeBuffer));
  const { writeBuffer } = intake;
  t.true(writeBuffer.length > 1_000_000);
  // Like a socket: the buffer is filled first, and the rest is appended.
  intake.advance(bytes.copy(writeBuffer, 0, 64 * 1024));
  intake.append(bytes.subarray(64 * 1024 + writeBuffer.length));
  const value = answers[0]?.responses[0]?.partitions[0]?.records[0]?.records[0]?.value;
  t.is(value?.length, 1_100_000);
  t.true(value?.buffer === writeBuffer.buffer);
});

test('an unrequested part of a response is rejected', (t) => {
  const intake = new FetchBuffer(() => undefined);
  t.throws(() => intake.append(Buffer.from('x')), { message: /not requested/ });
});

test('a number without an end is rejected', (t) => {
  const intake = new FetchBuffer(() => collect(parseFetchResponse(new BufferPool()), []));
  t.throws(() => intake.append(Buffer.alloc(10, 255)), { message: /too long/ });
});
