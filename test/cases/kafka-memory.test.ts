/** Memory of fetched pieces: a handler reads what was sent until it resolves, and then the memory is used again. */
import { crc32 } from 'node:zlib';
import test from 'ava';
import type { Piece } from '../../adapters/bus-kafka/fetcher.ts';
import { PartitionLoop } from '../../adapters/bus-kafka/partition-loop.ts';
import { type Slab, Slabs, slabBytes } from '../../adapters/slabs.ts';
import type { Batch } from '../../schemas/ports/bus.ts';
import { silent } from '../../schemas/ports/log.ts';

const pieceBytes = 2 * 1024 * 1024;
const valueBytes = pieceBytes / 2;

/** Two records, each filled with its offset. */
const pieceIn = (slab: Slab, offset: number): Piece => ({
  records: [offset, offset + 1].map((at, index) => {
    const value = slab.bytes.subarray(index * valueBytes, (index + 1) * valueBytes).fill(at);
    const headers: [Buffer, Buffer][] = [[Buffer.from('crc32'), Buffer.from(crc32(value).toString(16))]];
    const record = { length: 0, attributes: 0, timestampDelta: 0n, offsetDelta: 0, key: null, value, headers };
    return { offset: at, timestampMs: 0, record };
  }),
  next: offset + 2,
  release: () => slab.release(),
});

/** Runs a partition of twelve pieces in batches of so many bytes; `read` gets what a handler finds while others use the memory. */
const consume = async (maxBytes: number, read: (batch: Batch) => void): Promise<ReadonlySet<ArrayBufferLike>> => {
  const last = 23;
  const slabs = new Slabs();
  const used = new Set<ArrayBufferLike>();
  const ending = new AbortController();
  const fetch = async (_topic: string, _partition: number, offset: number): Promise<Piece | undefined> => {
    if (offset > last) return new Promise(() => undefined);
    const slab = slabs.take(pieceBytes);
    used.add(slab.bytes.buffer);
    return pieceIn(slab, offset);
  };
  const onBatch = async (batch: Batch): Promise<void> => {
    // Another partition's pieces come and go.
    const others = Array.from({ length: 4 }, () => slabs.take(pieceBytes));
    for (const { bytes } of others) bytes.fill(255);
    for (const { release } of others) release();
    read(batch);
    if (batch.last === last) ending.abort();
  };
  const loop = new PartitionLoop(
    { topic: 'a', partition: 0, offset: 0, claimed: undefined },
    {
      ...{
        fetcher: { fetch },
        log: silent,
        onBatch,
        events: {},
        rejected: () => undefined,
        commit: async () => undefined,
      },
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
  test(`batches ${title} hold what was sent until they are acknowledged, in memory that is used again`, async (t) => {
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

test('a small piece has memory of its own, and a slab is given back once', (t) => {
  const slabs = new Slabs();
  const small = slabs.take(1000);
  t.is(small.bytes.buffer.byteLength, 1000);
  const first = slabs.take(pieceBytes);
  first.release();
  first.release();
  t.not(slabs.take(pieceBytes).bytes.buffer, slabs.take(pieceBytes).bytes.buffer);
});

test('a slab is used again for pieces of about its size, and for no larger ones', (t) => {
  const slabs = new Slabs();
  const first = slabs.take(pieceBytes - 1);
  first.release();
  t.not(slabs.take(pieceBytes + 1).bytes.buffer, first.bytes.buffer);
  const again = slabs.take(pieceBytes);
  t.is(again.bytes.length, pieceBytes);
  t.is(again.bytes.buffer, first.bytes.buffer);
  t.is(slabs.take(slabBytes + 1).bytes.buffer.byteLength, slabBytes + 1);
});

test('24 MiB are kept to be used again, those that were given back last', (t) => {
  const slabs = new Slabs();
  const taken = Array.from({ length: 8 }, () => slabs.take(slabBytes));
  for (const { release } of taken) release();
  const again = new Set(Array.from({ length: 8 }, () => slabs.take(slabBytes).bytes.buffer));
  t.deepEqual(
    taken.map(({ bytes }) => again.has(bytes.buffer)),
    [false, false, false, false, false, true, true, true],
  );
});
