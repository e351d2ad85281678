/** Messages as Kafka records: headers as text, and a checksum of the value that readers verify. */
import { crc32 } from 'node:zlib';
import type { KafkaRecord } from '@platformatic/kafka';
import { computePartition } from '../../schemas/partition.ts';
import type { BusRecord, Message } from '../../schemas/ports/bus.ts';

/**
 * Consuming cannot continue and a retry does not help: an offset is deleted, a record is damaged, or a topic is
 * missing.
 */
export class FatalBusError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'FatalBusError';
  }
}

/** A message to send, with its partition chosen and its bytes counted. */
export interface OutgoingMessage {
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer;
  readonly value: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** Upper bound of its size in a record batch. */
  readonly bytes: number;
}

const checksumHeader = 'crc32';
/** Maximum size of the lengths, offsets and times of one record. */
const maxRecordOverhead = 64;
const headerOverhead = 10;
/** Size of the header of a record batch. */
export const batchOverhead = 61;
/** Part of a topic's message size limit that is reserved for key and headers. */
export const headerAllowance = 128 * 1024;

/** Chooses the partition and adds the checksum. The value is not copied. */
export const toOutgoingMessage = ({ topic, key, value, headers }: Message, partitions: number): OutgoingMessage => {
  const keyBytes = Buffer.from(key);
  const valueBytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const headersWithChecksum = { ...headers, [checksumHeader]: crc32(valueBytes).toString(16) };
  let bytes = maxRecordOverhead + keyBytes.length + valueBytes.length;
  for (const [name, text] of Object.entries(headersWithChecksum))
    bytes += headerOverhead + Buffer.byteLength(name) + Buffer.byteLength(text);
  return {
    topic,
    partition: computePartition(key, partitions),
    key: keyBytes,
    value: valueBytes,
    headers: headersWithChecksum,
    bytes,
  };
};

const emptyBuffer = Buffer.alloc(0);

/** Converts a Kafka record to a message, without the checksum. Throws a `FatalBusError` that names a damaged record. */
export const toBusRecord = (
  topic: string,
  partition: number,
  offset: number,
  timestampMs: number,
  { key, value, headers }: KafkaRecord,
): BusRecord => {
  const headerTexts: Record<string, string> = {};
  let expectedChecksum: string | undefined;
  for (const [name, text] of headers) {
    const header = name?.toString() ?? '';
    if (header === checksumHeader) expectedChecksum = text?.toString();
    else headerTexts[header] = text?.toString() ?? '';
  }
  const bytes = value ?? emptyBuffer;
  const actualChecksum = crc32(bytes).toString(16);
  if (expectedChecksum !== actualChecksum)
    throw new FatalBusError(
      `record ${offset} of partition ${partition} of topic ${topic} is damaged: ` +
        `${expectedChecksum === undefined ? 'it carries no checksum' : `its checksum is ${actualChecksum}, not ${expectedChecksum}`}. ` +
        'Compare the replicas of that partition; to continue without the record, move the group’s offset past it',
    );
  return { offset, timestampMs, key: key?.toString() ?? '', value: bytes, headers: headerTexts };
};
