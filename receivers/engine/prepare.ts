/**
 * Prepares a received body for the bus: decompresses it under a cap, validates it against its schema, and splits it if
 * it is too large for one message. Pure, so that it runs on the main thread, in the worker and on replays.
 */
import { zstdCompressSync } from 'node:zlib';
import { decompress } from '../../schemas/compression.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { scanRequest } from '../../schemas/otlp/scan.ts';
import { splitRequest } from '../../schemas/otlp/split.ts';
import { scanWriteRequest } from '../../schemas/prometheus/scan.ts';
import { splitWriteRequest } from '../../schemas/prometheus/split.ts';
import { type Encoding, maxMessageDecompressedBytes } from '../../schemas/telemetry-message.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { topics } from '../../schemas/topics.ts';
import type { BodyFormat } from './body-format.ts';

/** Telemetry signal, format and encoding of a body, as declared by its sender. */
export interface BodyShape {
  readonly signal: Signal;
  readonly format: BodyFormat;
  readonly encoding: Encoding | 'deflate';
}

/** A part of a request that fits into one message. */
export interface MessagePart {
  readonly bytes: Uint8Array;
  readonly encoding: Encoding;
  /** Number of bytes after decompression. */
  readonly size: number;
  readonly records: number;
}

/** Counts required in a remote-write 2.0 response. */
export interface WriteCounts {
  readonly samples: number;
  readonly histograms: number;
  readonly exemplars: number;
}

export interface PreparedBody {
  /** Decompressed bytes of the request in its sender's encoding; 0 if nothing is stored. */
  readonly size: number;
  readonly records: number;
  readonly writeCounts: WriteCounts | undefined;
  /** Empty if there is nothing to store. */
  readonly messageParts: readonly MessagePart[];
}

/** Maximum bytes of a message's value; the rest is for headers, which grow with members. */
export const maxValueBytes = topics.logs.maxMessageBytes - 64 * 1024;

interface CheckResult {
  readonly records: number;
  readonly writeCounts: WriteCounts | undefined;
}

const checkBody = ({ signal, format: { messageFormat } }: BodyShape, plain: Buffer): CheckResult => {
  if (messageFormat === 'otlp') return { records: scanRequest(signal, plain).records, writeCounts: undefined };
  const writeCounts = scanWriteRequest(messageFormat === 'remote-write-1' ? 1 : 2, plain);
  return { records: writeCounts.samples + writeCounts.histograms, writeCounts };
};

/** A position in the translated body does not apply to the original body. */
const checkTranslated = (shape: BodyShape, plain: Buffer): CheckResult => {
  try {
    return checkBody(shape, plain);
  } catch (cause) {
    throw cause instanceof PermanentError ? new PermanentError(cause.reason, cause.message, { cause }) : cause;
  }
};

/** Returns a message part; undefined if it exceeds the message size even when compressed. */
const toMessagePart = ({ bytes, records }: { bytes: Buffer; records: number }): MessagePart | undefined => {
  const size = bytes.length;
  if (size <= maxValueBytes) return { bytes, encoding: 'identity', size, records };
  const compressed = zstdCompressSync(bytes);
  return compressed.length <= maxValueBytes ? { bytes: compressed, encoding: 'zstd', size, records } : undefined;
};

const trySplitToSize = (
  { signal, format: { messageFormat } }: BodyShape,
  plain: Buffer,
  maxBytes: number,
): MessagePart[] | undefined => {
  try {
    const parts =
      messageFormat === 'otlp'
        ? splitRequest(signal, plain, maxBytes)
        : splitWriteRequest(messageFormat === 'remote-write-1' ? 1 : 2, plain, maxBytes);
    const messageParts = parts.map(toMessagePart).filter((piece) => piece !== undefined);
    return messageParts.length === parts.length ? messageParts : undefined;
  } catch (error) {
    if (error instanceof PermanentError && error.reason === 'record-too-large') return undefined;
    throw error;
  }
};

/** Splits into the smallest possible parts; if one record exceeds the message size, into larger, compressed parts. */
const splitBody = (shape: BodyShape, plain: Buffer): MessagePart[] => {
  for (const maxBytes of [maxValueBytes, 4 * maxValueBytes, maxMessageDecompressedBytes]) {
    const messageParts = trySplitToSize(shape, plain, maxBytes);
    if (messageParts !== undefined) return messageParts;
  }
  throw new PermanentError(
    'record-too-large',
    `a single record is too large for a message of ${maxValueBytes} bytes, even compressed`,
  );
};

const emptyPrepared: PreparedBody = {
  size: 0,
  records: 0,
  writeCounts: { samples: 0, histograms: 0, exemplars: 0 },
  messageParts: [],
};

/**
 * Returns whether the bytes are published unchanged: members support the encoding, and the content was not translated.
 */
const passesThrough = ({ format, encoding }: BodyShape): boolean =>
  format.translate === undefined && encoding !== 'deflate';

/** Prepares a body. Throws `PermanentError` if it is malformed and `TooLargeError` if it exceeds the cap. */
export const prepareBody = (shape: BodyShape, body: Buffer, capBytes: number): PreparedBody => {
  // A protobuf message without fields has zero bytes. Zero bytes are neither JSON nor a compressed stream.
  if (body.length === 0 && shape.encoding === 'identity' && shape.format.translate === undefined) return emptyPrepared;
  const decompressed = shape.encoding === 'identity' ? body : decompress(shape.encoding, body, capBytes);
  try {
    return prepareDecompressed(shape, body, decompressed);
  } catch (error) {
    if (error instanceof PermanentError) error.decompressedBytes = decompressed.length;
    throw error;
  }
};

const prepareDecompressed = (shape: BodyShape, body: Buffer, decompressed: Buffer): PreparedBody => {
  const { signal, format } = shape;
  const size = decompressed.length;
  if (size === 0 && format.translate === undefined) return emptyPrepared;
  const plainBody = format.translate?.(decompressed, signal) ?? decompressed;
  const { records, writeCounts } =
    format.translate === undefined ? checkBody(shape, plainBody) : checkTranslated(shape, plainBody);
  if (format.messageFormat === 'otlp' && records === 0) return emptyPrepared;
  if (passesThrough(shape) && body.length <= maxValueBytes && size <= maxMessageDecompressedBytes) {
    const encoding = shape.encoding as Encoding;
    return { size, records, writeCounts, messageParts: [{ bytes: body, encoding, size, records }] };
  }
  if (plainBody.length <= maxValueBytes) {
    return {
      size,
      records,
      writeCounts,
      messageParts: [{ bytes: plainBody, encoding: 'identity', size: plainBody.length, records }],
    };
  }
  return { size, records, writeCounts, messageParts: splitBody(shape, plainBody) };
};
