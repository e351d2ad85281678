/** Kafka's record batch (magic 2), written once into one buffer of its exact size. */
import { crc32c } from '@platformatic/kafka';
import type { OutgoingMessage } from './wire.ts';

/**
 * The producer of a batch, and the number of records that it wrote to the partition before. Brokers use both to drop
 * duplicates.
 */
export interface Sequence {
  readonly producerId: bigint;
  readonly epoch: number;
  readonly first: number;
}

const headerBytes = 61;
/** The batch length counts the bytes after itself; the checksum covers the bytes after itself. */
const lengthEnd = 12;
const checksumOffset = 17;
const magic = 2;

/** Size of an unsigned varint in bytes. */
const getVarintSize = (value: number): number => {
  let size = 1;
  for (let remainingBits = value >>> 7; remainingBits !== 0; remainingBits >>>= 7) size++;
  return size;
};

/** Numbers of a record are zigzag-encoded; our numbers are never negative. */
const getNumberSize = (value: number): number => getVarintSize(value * 2);

const writeVarint = (target: Buffer, at: number, value: number): number => {
  let position = at;
  let remaining = value;
  while (remaining > 127) {
    target[position++] = (remaining & 127) | 128;
    remaining >>>= 7;
  }
  target[position++] = remaining;
  return position;
};

const writeNumber = (into: Buffer, at: number, value: number): number => writeVarint(into, at, value * 2);

const writeText = (into: Buffer, at: number, text: string): number => {
  const length = Buffer.byteLength(text);
  const textStart = writeNumber(into, at, length);
  into.write(text, textStart, length, 'utf8');
  return textStart + length;
};

const getTextSize = (text: string): number => {
  const length = Buffer.byteLength(text);
  return getNumberSize(length) + length;
};

/** Size of a record without its own length. Attributes and the time difference, always 0, use one byte each. */
const computeRecordSize = ({ key, value, headers }: OutgoingMessage, index: number): number => {
  let size =
    2 + getNumberSize(index) + getNumberSize(key.length) + key.length + getNumberSize(value.length) + value.length;
  let count = 0;
  for (const name in headers) {
    count++;
    size += getTextSize(name) + getTextSize(headers[name] ?? '');
  }
  return size + getNumberSize(count);
};

const writeRecord = (into: Buffer, at: number, { key, value, headers }: OutgoingMessage, index: number): number => {
  let position = at;
  into[position++] = 0;
  into[position++] = 0;
  position = writeNumber(into, position, index);
  position = writeNumber(into, position, key.length);
  into.set(key, position);
  position = writeNumber(into, position + key.length, value.length);
  into.set(value, position);
  const names = Object.keys(headers);
  position = writeNumber(into, position + value.length, names.length);
  for (const name of names) {
    position = writeText(into, position, name);
    position = writeText(into, position, headers[name] ?? '');
  }
  return position;
};

/** Encodes the messages of one partition, in their order, as the broker stores them. */
export const encodeRecordBatch = (messages: readonly OutgoingMessage[], nowMs: number, sequence: Sequence): Buffer => {
  const sizes = messages.map(computeRecordSize);
  let total = headerBytes;
  for (const size of sizes) total += getNumberSize(size) + size;
  const batch = Buffer.allocUnsafe(total);
  batch.fill(0, 0, checksumOffset + 6);
  batch.writeInt32BE(total - lengthEnd, 8);
  batch[16] = magic;
  batch.writeInt32BE(messages.length - 1, 23);
  batch.writeBigInt64BE(BigInt(nowMs), 27);
  batch.writeBigInt64BE(BigInt(nowMs), 35);
  batch.writeBigInt64BE(sequence.producerId, 43);
  batch.writeInt16BE(sequence.epoch, 51);
  batch.writeInt32BE(sequence.first, 53);
  batch.writeInt32BE(messages.length, 57);
  let position = headerBytes;
  for (const [index, message] of messages.entries()) {
    position = writeNumber(batch, position, sizes[index] ?? 0);
    position = writeRecord(batch, position, message, index);
  }
  batch.writeUInt32BE(crc32c(batch.subarray(checksumOffset + 4)), checksumOffset);
  return batch;
};
