import type { LabelSet } from './labels.ts';

const mask = 0xffff_ffff_ffff_ffffn;
const prime1 = 0x9e37_79b1_85eb_ca87n;
const prime2 = 0xc2b2_ae3d_27d4_eb4fn;
const prime3 = 0x1656_67b1_9e37_79f9n;
const prime4 = 0x85eb_ca77_c2b2_ae63n;
const prime5 = 0x27d4_eb2f_1656_67c5n;

const rotate = (value: bigint, bits: bigint): bigint => ((value << bits) | (value >> (64n - bits))) & mask;
const hashRound = (sum: bigint, input: bigint): bigint => (rotate((sum + input * prime2) & mask, 31n) * prime1) & mask;
const mergeRound = (sum: bigint, value: bigint): bigint => ((sum ^ hashRound(0n, value)) * prime1 + prime4) & mask;

/** Merges four sums over blocks of 32 bytes. */
const hashBlocks = (bytes: Buffer): bigint => {
  const sums = [(prime1 + prime2) & mask, prime2, 0n, (mask + 1n - prime1) & mask];
  for (let offset = 0; offset + 32 <= bytes.length; offset += 32)
    for (let lane = 0; lane < 4; lane++)
      sums[lane] = hashRound(sums[lane] as bigint, bytes.readBigUInt64LE(offset + 8 * lane));
  const [first, second, third, fourth] = sums as [bigint, bigint, bigint, bigint];
  const combined = (rotate(first, 1n) + rotate(second, 7n) + rotate(third, 12n) + rotate(fourth, 18n)) & mask;
  return sums.reduce(mergeRound, combined);
};

/** xxHash64 with seed 0. */
const xxHash64 = (bytes: Buffer): bigint => {
  let hash = bytes.length >= 32 ? hashBlocks(bytes) : prime5;
  hash = (hash + BigInt(bytes.length)) & mask;
  let offset = bytes.length - (bytes.length % 32);
  for (; offset + 8 <= bytes.length; offset += 8)
    hash = (rotate(hash ^ hashRound(0n, bytes.readBigUInt64LE(offset)), 27n) * prime1 + prime4) & mask;
  if (offset + 4 <= bytes.length) {
    hash = (rotate(hash ^ ((BigInt(bytes.readUInt32LE(offset)) * prime1) & mask), 23n) * prime2 + prime3) & mask;
    offset += 4;
  }
  for (; offset < bytes.length; offset++)
    hash = (rotate(hash ^ ((BigInt(bytes[offset] as number) * prime5) & mask), 11n) * prime1) & mask;
  hash = ((hash ^ (hash >> 33n)) * prime2) & mask;
  hash = ((hash ^ (hash >> 29n)) * prime3) & mask;
  return hash ^ (hash >> 32n);
};

/** Encodes a text with its length as prefix: one byte, or 255 and three bytes. */
const encodeWithLength = (text: string): Buffer[] => {
  const bytes = Buffer.from(text);
  const { length } = bytes;
  const lengthBytes = length < 255 ? [length] : [255, length & 255, (length >> 8) & 255, (length >> 16) & 255];
  return [Buffer.from(lengthBytes), bytes];
};

/** Returns a number from 0 to below 1 that depends only on the labels, as in Prometheus' `limit_ratio`. */
export const getSampleOffset = ({ names, values }: LabelSet): number => {
  const encodedLabels = names.flatMap((name, labelIndex) => [
    ...encodeWithLength(name),
    ...encodeWithLength(values[labelIndex] as string),
  ]);
  return Number(xxHash64(Buffer.concat(encodedLabels))) / 2 ** 64;
};
