/** Partition of a key: the result of Kafka's default partitioner, on every bus. */

const multiplier = 0x5bd1e995;
const seed = 0x9747b28c;

/** Returns the signed 32-bit Murmur2 hash, as Kafka clients compute it. */
export const computeMurmur2 = (bytes: Uint8Array): number => {
  const { length } = bytes;
  const getByte = (index: number): number => bytes[index] ?? 0;
  let hash = seed ^ length;
  const wholeWordBytes = length & ~3;
  for (let position = 0; position < wholeWordBytes; position += 4) {
    let block =
      getByte(position) | (getByte(position + 1) << 8) | (getByte(position + 2) << 16) | (getByte(position + 3) << 24);
    block = Math.imul(block, multiplier);
    block = Math.imul(block ^ (block >>> 24), multiplier);
    hash = Math.imul(hash, multiplier) ^ block;
  }
  const remainingBytes = length & 3;
  if (remainingBytes > 2) hash ^= getByte(wholeWordBytes + 2) << 16;
  if (remainingBytes > 1) hash ^= getByte(wholeWordBytes + 1) << 8;
  if (remainingBytes > 0) hash = Math.imul(hash ^ getByte(wholeWordBytes), multiplier);
  hash = Math.imul(hash ^ (hash >>> 13), multiplier);
  return hash ^ (hash >>> 15);
};

/**
 * Returns the partition of a key among `count` partitions: the Murmur2 hash of its UTF-8 bytes, made non-negative as in
 * Kafka.
 */
export const computePartition = (key: string, count: number): number =>
  count === 1 ? 0 : (computeMurmur2(Buffer.from(key)) & 0x7fffffff) % count;
