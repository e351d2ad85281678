/**
 * From a body as it was received to what goes on the bus: decompressed under a cap, checked against its schema, and cut
 * where it is too large for one message. Pure, so that it runs on the main thread, in the worker and on replays.
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

/** The signal, format and encoding of a body, as its sender declares them. */
export interface Shape {
  readonly signal: Signal;
  readonly format: BodyFormat;
  readonly encoding: Encoding | 'deflate';
}

/** A piece of a request that fits into one message. */
export interface Piece {
  readonly bytes: Uint8Array;
  readonly encoding: Encoding;
  /** Bytes once decompressed. */
  readonly size: number;
  readonly records: number;
}

/** The counts that a remote-write 2.0 answer must have. */
export interface Written {
  readonly samples: number;
  readonly histograms: number;
  readonly exemplars: number;
}

export interface Prepared {
  /** Decompressed bytes of the request as its sender encoded it; 0 where nothing is stored. */
  readonly size: number;
  readonly records: number;
  readonly written: Written | undefined;
  /** None when there is nothing to store. */
  readonly pieces: readonly Piece[];
}

/** The part of a message that its value may use; the rest is for headers, which grow with members. */
export const maxValueBytes = topics.logs.maxMessageBytes - 64 * 1024;

interface Checked {
  readonly records: number;
  readonly written: Written | undefined;
}

const check = ({ signal, format: { carriedAs } }: Shape, plain: Buffer): Checked => {
  if (carriedAs === 'otlp') return { records: scanRequest(signal, plain).records, written: undefined };
  const written = scanWriteRequest(carriedAs === 'remote-write-1' ? 1 : 2, plain);
  return { records: written.samples + written.histograms, written };
};

/** A position in what was translated is none in what was sent. */
const checkTranslated = (shape: Shape, plain: Buffer): Checked => {
  try {
    return check(shape, plain);
  } catch (cause) {
    throw cause instanceof PermanentError ? new PermanentError(cause.reason, cause.message, { cause }) : cause;
  }
};

/** Undefined when the piece is above the message size even compressed. */
const pieceOf = ({ bytes, records }: { bytes: Buffer; records: number }): Piece | undefined => {
  const size = bytes.length;
  if (size <= maxValueBytes) return { bytes, encoding: 'identity', size, records };
  const compressed = zstdCompressSync(bytes);
  return compressed.length <= maxValueBytes ? { bytes: compressed, encoding: 'zstd', size, records } : undefined;
};

const splitAt = ({ signal, format: { carriedAs } }: Shape, plain: Buffer, maxBytes: number): Piece[] | undefined => {
  try {
    const parts =
      carriedAs === 'otlp'
        ? splitRequest(signal, plain, maxBytes)
        : splitWriteRequest(carriedAs === 'remote-write-1' ? 1 : 2, plain, maxBytes);
    const pieces = parts.map(pieceOf).filter((piece) => piece !== undefined);
    return pieces.length === parts.length ? pieces : undefined;
  } catch (error) {
    if (error instanceof PermanentError && error.reason === 'record-too-large') return undefined;
    throw error;
  }
};

/** Pieces are as small as records allow: one record above the message size makes them larger, and then compressed. */
const split = (shape: Shape, plain: Buffer): Piece[] => {
  for (const maxBytes of [maxValueBytes, 4 * maxValueBytes, maxMessageDecompressedBytes]) {
    const pieces = splitAt(shape, plain, maxBytes);
    if (pieces !== undefined) return pieces;
  }
  throw new PermanentError(
    'record-too-large',
    `a single record is too large for a message of ${maxValueBytes} bytes, even compressed`,
  );
};

const none: Prepared = { size: 0, records: 0, written: { samples: 0, histograms: 0, exemplars: 0 }, pieces: [] };

/** Whether the bytes are published as they came: the encoding is one that members have, and the content was not translated. */
const passesThrough = ({ format, encoding }: Shape): boolean =>
  format.translate === undefined && encoding !== 'deflate';

/** Throws `PermanentError` for a malformed body and `TooLargeError` for one above the cap. */
export const prepare = (shape: Shape, body: Buffer, capBytes: number): Prepared => {
  // A protobuf message without fields is zero bytes. Zero bytes are no JSON and no compressed stream.
  if (body.length === 0 && shape.encoding === 'identity' && shape.format.translate === undefined) return none;
  const decompressed = shape.encoding === 'identity' ? body : decompress(shape.encoding, body, capBytes);
  try {
    return prepareDecompressed(shape, body, decompressed);
  } catch (error) {
    if (error instanceof PermanentError) error.decompressedBytes = decompressed.length;
    throw error;
  }
};

const prepareDecompressed = (shape: Shape, body: Buffer, decompressed: Buffer): Prepared => {
  const { signal, format } = shape;
  const size = decompressed.length;
  if (size === 0 && format.translate === undefined) return none;
  const plain = format.translate?.(decompressed, signal) ?? decompressed;
  const { records, written } = format.translate === undefined ? check(shape, plain) : checkTranslated(shape, plain);
  if (format.carriedAs === 'otlp' && records === 0) return none;
  if (passesThrough(shape) && body.length <= maxValueBytes && size <= maxMessageDecompressedBytes) {
    const encoding = shape.encoding as Encoding;
    return { size, records, written, pieces: [{ bytes: body, encoding, size, records }] };
  }
  if (plain.length <= maxValueBytes) {
    return { size, records, written, pieces: [{ bytes: plain, encoding: 'identity', size: plain.length, records }] };
  }
  return { size, records, written, pieces: split(shape, plain) };
};
