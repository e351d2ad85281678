import { createRequire } from 'node:module';
import test from 'ava';
import fc from 'fast-check';
import { computeMurmur2, computePartition } from '../../schemas/partition.ts';

// kafkajs does not export its hash; the path is what its own default partitioner requires.
const reference = createRequire(import.meta.url)('kafkajs/src/producer/partitioners/default/murmur2.js') as (
  key: string | Buffer,
) => number;

/** Vectors of Kafka's own client (org.apache.kafka.common.utils.UtilsTest). */
const vectors: readonly (readonly [string, number])[] = [
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ['abc', 479470107],
];

for (const [key, hash] of vectors) {
  test(`murmur2 of ${key} equals the hash of Kafka's clients`, (t) => {
    t.is(computeMurmur2(Buffer.from(key)), hash);
  });
}

test("any bytes have the same hash as in kafkajs' partitioner", (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => computeMurmur2(bytes) === reference(Buffer.from(bytes))),
    { numRuns: 2000 },
  );
  t.pass();
});

test('every key has one partition, within the partition count', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 64 }), (key, count) => {
      const partition = computePartition(key, count);
      return (
        Number.isInteger(partition) && partition >= 0 && partition < count && partition === computePartition(key, count)
      );
    }),
  );
  t.pass();
});
