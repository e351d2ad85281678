/** Memory of fetched buffers: a handler can read the data until it resolves, and then the memory is reused. */
import { crc32 } from 'node:zlib';
import test from 'ava';
import { BufferPool, type PooledBuffer, pooledBufferBytes } from '../../adapters/buffer-pool.ts';
import type { FetchedBatch } from '../../adapters/bus-kafka/fetcher.ts';
import { PartitionLoop } from '../../adapters/bus-kafka/partition-loop.ts';
import type { Batch } from '../../schemas/ports/bus.ts';
import { silentLog } from '../../schemas/ports/log.ts';

const pieceBytes = 2 * 1024 * 1024;
const valueBytes = pieceBytes / 2;

/** Two records, each filled with its offset. */
const pieceIn = (pooledBuffer: PooledBuffer, offset: number): FetchedBatch => ({
  records: [offset, offset + 1].map((at, index) => {
    const value = pooledBuffer.bytes.subarray(index * valueBytes, (index + 1) * valueBytes).fill(at);
    const headers: [Buffer, Buffer][] = [[Buffer.from('crc32'), Buffer.from(crc32(value).toString(16))]];
    const record = { length: 0, attributes: 0, timestampDelta: 0n, offsetDelta: 0, key: null, value, headers };
    return { offset: at, timestampMs: 0, record };
  }),
  next: offset + 2,
  release: () => pooledBuffer.release(),
});

/**
 * Consumes a partition of twelve buffers in batches of `maxBytes`; `read` gets each batch while other readers use the
 * pool.
 */
const consume = async (maxBytes: number, read: (batch: Batch) => void): Promise<ReadonlySet<ArrayBufferLike>> => {
  const last = 23;
  const bufferPool = new BufferPool();
  const used = new Set<ArrayBufferLike>();
  const ending = new AbortController();
  const fetch = async (_topic: string, _partition: number, offset: number): Promise<FetchedBatch | undefined> => {
    if (offset > last) return new Promise(() => undefined);
    const pooledBuffer = bufferPool.acquire(pieceBytes);
    used.add(pooledBuffer.bytes.buffer);
    return pieceIn(pooledBuffer, offset);
  };
  const onBatch = async (batch: Batch): Promise<void> => {
    // Simulates buffers of another partition.
    const others = Array.from({ length: 4 }, () => bufferPool.acquire(pieceBytes));
    for (const { bytes } of others) bytes.fill(255);
    for (const { release } of others) release();
    read(batch);
    if (batch.last === last) ending.abort();
  };
  const loop = new PartitionLoop(
    { topic: 'a', partition: 0, offset: 0, claimedOffset: undefined },
    {
      fetcher: { fetch },
      log: silentLog,
      onBatch,
      events: {},
      onAssignmentRejected: () => undefined,
      commit: async () => undefined,
      limits: { maxRecords: 1_000, maxBytes, maxWaitMs: 60_000 },
    },
  );
  await loop.run(ending.signal);
  return used;
};

for (const { title, maxBytes, batches } of [
  { title: 'of one piece', maxBytes: 2 * valueBytes, batches: 12 },
  { title: 'of two pieces', maxBytes: 4 * valueBytes, batches: 6 },
  { title: 'of three records, some within a piece,', maxBytes: 3 * valueBytes, batches: 8 },
])
  test(`batches ${title} preserve the sent data until acknowledged, in memory that is reused`, async (t) => {
    const seen: (readonly number[])[] = [];
    const used = await consume(maxBytes, ({ records }) => {
      seen.push(records.map(({ value }) => (value.every((byte) => byte === value[0]) ? (value[0] ?? -1) : -1)));
    });
    t.is(seen.length, batches);
    t.deepEqual(
      seen.flat(),
      Array.from({ length: 24 }, (_, offset) => offset),
    );
    t.true(used.size < 8, `${used.size} slabs were made`);
  });

test('a small buffer has its own memory, and a slab is released once', (t) => {
  const bufferPool = new BufferPool();
  const small = bufferPool.acquire(1000);
  t.is(small.bytes.buffer.byteLength, 1000);
  const first = bufferPool.acquire(pieceBytes);
  first.release();
  first.release();
  t.not(bufferPool.acquire(pieceBytes).bytes.buffer, bufferPool.acquire(pieceBytes).bytes.buffer);
});

test('a slab is reused for buffers of about its size, and not for larger buffers', (t) => {
  const bufferPool = new BufferPool();
  const first = bufferPool.acquire(pieceBytes - 1);
  first.release();
  t.not(bufferPool.acquire(pieceBytes + 1).bytes.buffer, first.bytes.buffer);
  const again = bufferPool.acquire(pieceBytes);
  t.is(again.bytes.length, pieceBytes);
  t.is(again.bytes.buffer, first.bytes.buffer);
  t.is(bufferPool.acquire(pooledBufferBytes + 1).bytes.buffer.byteLength, pooledBufferBytes + 1);
});

test('24 MiB of the most recently released slabs are retained for reuse', (t) => {
  const bufferPool = new BufferPool();
  const buffers = Array.from({ length: 8 }, () => bufferPool.acquire(pooledBufferBytes));
  for (const { release } of buffers) release();
  const again = new Set(Array.from({ length: 8 }, () => bufferPool.acquire(pooledBufferBytes).bytes.buffer));
  t.deepEqual(
    buffers.map(({ bytes }) => again.has(bytes.buffer)),
    [false, false, false, false, false, true, true, true],
  );
});
