/**
 * Produce requests, each as one buffer: the driver's way of putting one together and of reading its answer costs several times as
 * much, and a small one is sent for every few requests that come in.
 */
import { produceV9, Reader } from '@platformatic/kafka';
import { mostAtOnce, type Parser } from './intake.ts';

import { writeVarint } from './varint.ts';

/** What goes to one partition in one round. */
export interface Batch {
  readonly topic: string;
  readonly partition: number;
  readonly bytes: Buffer;
}

const acknowledgedByAll = -1;
const noTags = 0;
/** No tags. */
const headBytes = 1;
/** Above this a batch is written as it is, since a copy would cost more than a piece more to write. */
const largestCopy = 128 * 1024;

/** Bytes of lengths and numbers around a name or a batch, at most. */
const frameBytes = 32;

/** Compact strings and arrays tell their length plus one. */
const writeText = (into: Buffer, at: number, text: string): number => {
  const length = Buffer.byteLength(text);
  const start = writeVarint(into, at, length + 1);
  into.write(text, start, length, 'utf8');
  return start + length;
};

const byTopic = (batches: readonly Batch[]): Map<string, Batch[]> => {
  const topics = new Map<string, Batch[]>();
  for (const batch of batches) {
    const others = topics.get(batch.topic);
    if (others === undefined) topics.set(batch.topic, [batch]);
    else others.push(batch);
  }
  return topics;
};

/** A whole Produce request of version 9, in parts: what is large is not copied. */
export const produceRequest = (
  id: number,
  clientId: string,
  batches: readonly Batch[],
  timeoutMs: number,
): Buffer[] => {
  let room = frameBytes + Buffer.byteLength(clientId);
  for (const { topic, bytes } of batches)
    room += 2 * frameBytes + Buffer.byteLength(topic) + (bytes.length > largestCopy ? 0 : bytes.length);
  const buffer = Buffer.allocUnsafe(room);
  const parts: Buffer[] = [];
  let from = 0;
  let large = 0;
  buffer.writeInt16BE(produceV9.api.key, 4);
  buffer.writeInt16BE(produceV9.api.version, 6);
  buffer.writeInt32BE(id, 8);
  // The header's string alone is of the older kind.
  let at = buffer.writeInt16BE(Buffer.byteLength(clientId), 12);
  at += buffer.write(clientId, at, 'utf8');
  buffer[at++] = noTags;
  // No transaction.
  buffer[at++] = 0;
  at = buffer.writeInt16BE(acknowledgedByAll, at);
  at = buffer.writeInt32BE(timeoutMs, at);
  const topics = byTopic(batches);
  at = writeVarint(buffer, at, topics.size + 1);
  for (const [topic, partitions] of topics) {
    at = writeText(buffer, at, topic);
    at = writeVarint(buffer, at, partitions.length + 1);
    for (const { partition, bytes } of partitions) {
      at = buffer.writeInt32BE(partition, at);
      at = writeVarint(buffer, at, bytes.length + 1);
      if (bytes.length > largestCopy) {
        parts.push(buffer.subarray(from, at), bytes);
        large += bytes.length;
        from = at;
      } else {
        buffer.set(bytes, at);
        at += bytes.length;
      }
      buffer[at++] = noTags;
    }
    buffer[at++] = noTags;
  }
  buffer[at++] = noTags;
  parts.push(buffer.subarray(from, at));
  buffer.writeInt32BE(at + large - 4, 0);
  return parts;
};

/** Whether an answer is about one partition and says that nothing is wrong: the usual one, told without reading it all. */
const isPlainSuccess = (answer: Buffer): boolean => {
  const name = answer[headBytes + 1] ?? 0;
  const partitions = headBytes + 1 + name;
  // One topic, a name of less than 127 bytes, one partition, its number, no error.
  return answer[headBytes] === 2 && name < 128 && answer[partitions] === 2 && answer.readInt16BE(partitions + 5) === 0;
};

/** Reads an answer; gives the driver's error of what it refuses. */
export function* produceAnswer(bytes: number): Parser<unknown> {
  const answer = bytes > mostAtOnce ? yield Buffer.allocUnsafe(bytes) : yield bytes;
  if (isPlainSuccess(answer)) return undefined;
  try {
    produceV9.parseResponse(0, produceV9.api.key, produceV9.api.version, Reader.from(answer.subarray(headBytes)));
    return undefined;
  } catch (error) {
    return error;
  }
}
