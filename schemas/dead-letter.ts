/**
 * The dead letter: what was refused or could not be processed. A payload above the message size lies in several
 * messages ("chunks") of the same id, in order, in one partition.
 */
import { createHash } from 'node:crypto';
import type { BusRecord, Message } from './ports/bus.ts';
import { platformTenant } from './ports/documents.ts';
import { topics } from './topics.ts';

/** Headers of one chunk on the dead-letter topic. The value is the chunk's bytes as they came. */
export interface DeadLetterHeaders {
  /** Deterministic for a consumer's (group, topic, partition, offset); random for a refused request. */
  readonly id: string;
  readonly tenantId: string;
  readonly projectId: string;
  readonly keyId: string;
  /** `logs`, `metrics`, `traces`, or an empty string where unknown. */
  readonly signal: string;
  /** A receiver's name for a refused request (`otlp-http` …), a consumer group for what it could not process. */
  readonly origin: string;
  readonly kind: 'refused' | 'unprocessable';
  /** Short stable word, as `PermanentError.reason`. */
  readonly reason: string;
  /** For people. */
  readonly message: string;
  /** Byte position of the fault in the decompressed body, where known. */
  readonly position: number | undefined;
  readonly receivedAtMs: number;
  /** Source address of a refused request. */
  readonly source: string;
  readonly contentType: string;
  readonly contentEncoding: string;
  /** Name of the format in which a refused body is read again. Absent in letters of before formats had names, and for what a consumer could not process. */
  readonly format?: string | undefined;
  /** Topic, partition and offset of an unprocessable message; its original headers ride along in `originalHeaders`. */
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly originalHeaders: Readonly<Record<string, string>>;
  readonly chunk: number;
  readonly chunks: number;
  /** Bytes of the payload as received; more than is stored when `cut`. */
  readonly size: number;
  /**
   * What the ledger counts of a refused body: its bytes once decompressed; where it was not decompressed whole (broken
   * compression, or above the cap), the bytes that were received. Left out by older versions, and for messages of the bus.
   */
  readonly bytes?: number | undefined;
  /** The payload was above the body cap and only its beginning is here. */
  readonly cut: boolean;
}

/** One header of JSON carries it all; `tenant` rides beside it for people with a Kafka console. */
export const encodeDeadLetter = (headers: DeadLetterHeaders): Record<string, string> => ({
  tenant: headers.tenantId,
  'dead-letter': JSON.stringify(headers),
});

export const decodeDeadLetter = (headers: Readonly<Record<string, string>>): DeadLetterHeaders =>
  JSON.parse(headers['dead-letter'] ?? '{}') as DeadLetterHeaders;

/** Largest chunk of a payload, so that it stays below the dead-letter topic's message size with its headers. */
const deadLetterChunkBytes = 900 * 1024;

const chunksOf = (part: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.max(1, Math.ceil(part.length / deadLetterChunkBytes)) }, (_, chunk) =>
    part.subarray(chunk * deadLetterChunkBytes, (chunk + 1) * deadLetterChunkBytes),
  );

/** Cuts a payload, one part of it at least, into the messages of one dead letter. An empty one is one empty chunk. */
export const deadLetterMessages = (
  deadLetter: Omit<DeadLetterHeaders, 'chunk' | 'chunks'>,
  payload: readonly Uint8Array[],
): Message[] => {
  const values = payload.flatMap(chunksOf);
  return values.map((value, chunk) => ({
    topic: topics.deadLetter.name,
    key: deadLetter.tenantId,
    value,
    headers: encodeDeadLetter({ ...deadLetter, chunk, chunks: values.length }),
  }));
};

/** The dead letter of a message that a consumer group can never process. Its id is a function of where the message lies, so that a redelivery writes the same one. */
export const unprocessable = ({
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
  /** Stands for the group in the id, where that must stay as it was under another name. */
  readonly identity?: string | undefined;
  readonly topic: string;
  readonly partition: number;
  readonly record: BusRecord;
  readonly reason: string;
  readonly message: string;
  readonly receivedAtMs: number;
}): Message[] =>
  deadLetterMessages(
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
