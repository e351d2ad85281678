/**
 * The dead letter: a payload that was rejected or could not be processed. A payload above the message size is stored in
 * several messages ("chunks") with the same ID, in order, in one partition.
 */
import { createHash } from 'node:crypto';
import type { BusRecord, Message } from './ports/bus.ts';
import { platformTenant } from './ports/documents.ts';
import { topics } from './topics.ts';

/** Headers of one chunk on the dead-letter topic. The value contains the unmodified bytes of the chunk. */
export interface DeadLetterHeaders {
  /** Deterministic for a consumer's (group, topic, partition, offset); random for a rejected request. */
  readonly id: string;
  readonly tenantId: string;
  readonly projectId: string;
  readonly keyId: string;
  /** `logs`, `metrics`, `traces`, or an empty string if unknown. */
  readonly signal: string;
  /**
   * Name of the receiver that rejected a request (`otlp-http` …), or of the consumer group that could not process a
   * message.
   */
  readonly origin: string;
  readonly kind: 'refused' | 'unprocessable';
  /** Short stable code, as in `PermanentError.reason`. */
  readonly reason: string;
  /** Message for people */
  readonly message: string;
  /** Byte position of the error in the decompressed body, if known. */
  readonly position: number | undefined;
  readonly receivedAtMs: number;
  /** Source address of a rejected request. */
  readonly source: string;
  readonly contentType: string;
  readonly contentEncoding: string;
  /**
   * Name of the format for parsing a rejected body again. Absent in dead letters that predate format names, and for
   * messages that a consumer could not process.
   */
  readonly format?: string | undefined;
  /** Topic, partition and offset of an unprocessable message. `originalHeaders` contains its original headers. */
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly originalHeaders: Readonly<Record<string, string>>;
  readonly chunk: number;
  readonly chunks: number;
  /** Size of the received payload in bytes. Exceeds the stored size if `cut`. */
  readonly size: number;
  /**
   * Bytes of a rejected body that the ledger counts: its decompressed size, or the received size if it was not fully
   * decompressed (broken compression, or above the limit). Absent in dead letters of older versions, and for messages
   * of the bus.
   */
  readonly bytes?: number | undefined;
  /** Whether the stored payload is encrypted (`runtime/secret-box.ts`), because browsers sent it. */
  readonly isSealed?: boolean | undefined;
  /** Whether the payload exceeded the maximum body size, so that only its beginning is stored. */
  readonly cut: boolean;
}

/** Encodes the headers as one JSON header. The additional header `tenant` is for people with a Kafka console. */
export const encodeDeadLetter = (headers: DeadLetterHeaders): Record<string, string> => ({
  tenant: headers.tenantId,
  'dead-letter': JSON.stringify(headers),
});

export const decodeDeadLetter = (headers: Readonly<Record<string, string>>): DeadLetterHeaders =>
  JSON.parse(headers['dead-letter'] ?? '{}') as DeadLetterHeaders;

/** Maximum chunk size, so that a chunk with its headers stays below the message size of the dead-letter topic. */
const maxChunkBytes = 900 * 1024;

const splitIntoChunks = (payloadPart: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.max(1, Math.ceil(payloadPart.length / maxChunkBytes)) }, (_, chunk) =>
    payloadPart.subarray(chunk * maxChunkBytes, (chunk + 1) * maxChunkBytes),
  );

/** Splits a payload into the messages of one dead letter. An empty payload gives one empty chunk. */
export const buildDeadLetterMessages = (
  deadLetter: Omit<DeadLetterHeaders, 'chunk' | 'chunks'>,
  payload: readonly Uint8Array[],
): Message[] => {
  const values = payload.flatMap(splitIntoChunks);
  return values.map((value, chunk) => ({
    topic: topics.deadLetter.name,
    key: deadLetter.tenantId,
    value,
    headers: encodeDeadLetter({ ...deadLetter, chunk, chunks: values.length }),
  }));
};

/**
 * Builds the dead letter of a message that a consumer group can never process. Its ID depends only on the message's
 * position, so that a redelivery writes the same dead letter.
 */
export const buildUnprocessable = ({
  group,
  identity = group,
  topic,
  partition,
  record,
  reason,
  message,
  receivedAtMs,
}: {
  readonly group: string;
  /** Used in the ID instead of the group, if the group was renamed and the ID must not change. */
  readonly identity?: string | undefined;
  readonly topic: string;
  readonly partition: number;
  readonly record: BusRecord;
  readonly reason: string;
  readonly message: string;
  readonly receivedAtMs: number;
}): Message[] =>
  buildDeadLetterMessages(
    {
      id: createHash('sha256')
        .update(`${identity}\n${topic}\n${partition}\n${record.offset}`)
        .digest('hex')
        .slice(0, 32),
      tenantId: record.headers['tenant'] ?? platformTenant,
      projectId: record.headers['project'] ?? '',
      keyId: record.headers['key'] ?? '',
      signal: record.headers['signal'] ?? '',
      origin: group,
      kind: 'unprocessable',
      reason,
      message,
      position: undefined,
      receivedAtMs,
      source: '',
      contentType: '',
      contentEncoding: record.headers['encoding'] ?? '',
      topic,
      partition,
      offset: record.offset,
      originalHeaders: record.headers,
      size: record.value.length,
      cut: false,
    },
    [record.value],
  );
