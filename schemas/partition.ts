/** Partition of a key: the result of Kafka's default partitioner, on every bus. */

const multiplier = 0x5bd1e995;
const seed = 0x9747b28c;

/** Returns the signed 32-bit Murmur2 hash, as Kafka clients compute it. */
export const murmur2 = (bytes: Uint8Array): number => {
  const { length } = bytes;
  const byte = (index: number): number => bytes[index] ?? 0;
  let hash = seed ^ length;
  const whole = length & ~3;
  for (let at = 0; at < whole; at += 4) {
    let word = byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16) | (byte(at + 3) << 24);
    word = Math.imul(word, multiplier);
    word = Math.imul(word ^ (word >>> 24), multiplier);
    hash = Math.imul(hash, multiplier) ^ word;
  }
  const rest = length & 3;
  if (rest > 2) hash ^= byte(whole + 2) << 16;
  if (rest > 1) hash ^= byte(whole + 1) << 8;
  if (rest > 0) hash = Math.imul(hash ^ byte(whole), multiplier);
  hash = Math.imul(hash ^ (hash >>> 13), multiplier);
  return hash ^ (hash >>> 15);
};

/**
 * Returns the partition of a key among `count` partitions: the Murmur2 hash of its UTF-8 bytes, made non-negative as in
 * Kafka.
 */
export const partitionOf = (key: string, count: number): number =>
  count === 1 ? 0 : (murmur2(Buffer.from(key)) & 0x7fffffff) % count;
