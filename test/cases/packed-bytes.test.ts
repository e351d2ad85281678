/** Bodies that are compressed while they arrive. */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { PackedBytes, packBytes, unpackBytes } from '../../runtime/packed-bytes.ts';

const readAll = (parts: readonly Uint8Array[]): Buffer =>
  Buffer.concat(Array.from(unpackBytes(parts), (bytes) => Buffer.from(Uint8Array.from(bytes))));

test('the bytes of chunks of any size come back in their order', (t) => {
  for (const size of [0, 1, 256 * 1024, 256 * 1024 + 1, 1_000_000]) {
    const bytes = randomBytes(size);
    t.true(readAll(packBytes(bytes).parts).equals(bytes), `${size}`);
    const packed = new PackedBytes();
    for (let start = 0; start < size; start += 70_001) packed.add(bytes.subarray(start, start + 70_001));
    packed.end();
    t.true(readAll(packed.parts).equals(bytes), `${size} in chunks`);
  }
});

test('the memory of a chunk is freed when it is compressed, unless it is a part of other memory', (t) => {
  const packed = new PackedBytes();
  const chunk = new Uint8Array(100_000).fill(7);
  const shared = new Uint8Array(100_000).fill(8);
  packed.take(chunk);
  packed.take(shared.subarray(1));
  packed.end();
  t.is(chunk.length, 0);
  t.is(shared.length, 100_000);
  t.is(readAll(packed.parts).length, 199_999);
});
