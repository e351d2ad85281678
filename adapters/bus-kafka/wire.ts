/** Our messages as Kafka records: headers as text, and a checksum of the value that readers verify. */
import { crc32 } from 'node:zlib';
import type { KafkaRecord } from '@platformatic/kafka';
import { partitionOf } from '../../schemas/partition.ts';
import type { BusRecord, Message } from '../../schemas/ports/bus.ts';

/** Consuming cannot go on and trying again does not help: an offset is gone, a record is damaged, a topic is missing. */
export class FatalBusError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'FatalBusError';
  }
}

/** A message on its way: its partition is decided and its bytes are counted. */
export interface Outgoing {
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer;
  readonly value: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** Upper bound of what it takes in a record batch. */
  readonly bytes: number;
}

const checksum = 'crc32';
/** Lengths, offsets and times of one record, at most. */
const recordOverhead = 64;
const headerOverhead = 10;
/** A record batch's own header. */
export const batchOverhead = 61;
/** The part of a topic's message limit that is reserved for key and headers. */
export const headerAllowance = 128 * 1024;

/** Decides the partition and adds the checksum. The value is not copied. */
export const outgoing = ({ topic, key, value, headers }: Message, partitions: number): Outgoing => {
  const keyBytes = Buffer.from(key);
  const valueBytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const withChecksum = { ...headers, [checksum]: crc32(valueBytes).toString(16) };
  let bytes = recordOverhead + keyBytes.length + valueBytes.length;
  for (const [name, text] of Object.entries(withChecksum))
    bytes += headerOverhead + Buffer.byteLength(name) + Buffer.byteLength(text);
  return {
    topic,
    partition: partitionOf(key, partitions),
    key: keyBytes,
    value: valueBytes,
    headers: withChecksum,
    bytes,
  };
};

const empty = Buffer.alloc(0);

/** Reads a record back, without the checksum; a `FatalBusError` names the record that is damaged. */
export const incoming = (
  topic: string,
  partition: number,
  offset: number,
  timestampMs: number,
  { key, value, headers }: KafkaRecord,
): BusRecord => {
  const texts: Record<string, string> = {};
  let expected: string | undefined;
  for (const [name, text] of headers) {
    const header = name?.toString() ?? '';
    if (header === checksum) expected = text?.toString();
    else texts[header] = text?.toString() ?? '';
  }
  const bytes = value ?? empty;
  const found = crc32(bytes).toString(16);
  if (expected !== found)
    throw new FatalBusError(
      `record ${offset} of partition ${partition} of topic ${topic} is damaged: ` +
        `${expected === undefined ? 'it carries no checksum' : `its checksum is ${found}, not ${expected}`}. ` +
        'Compare the replicas of that partition; to go on without the record, move the group’s offset past it',
    );
  return { offset, timestampMs, key: key?.toString() ?? '', value: bytes, headers: texts };
};
