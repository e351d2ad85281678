/**
 * Prepares a received body for the bus: decompresses it under a cap, validates it against its schema, and splits it if
 * it is too large for one message. Pure, so that it runs on the main thread, in the worker and on replays.
 */
import { zstdCompressSync } from 'node:zlib';
import { decompress } from '../../schemas/compression.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { findUnknownContent, scanRequest, separateRequest } from '../../schemas/otlp/scan.ts';
import { splitRequest } from '../../schemas/otlp/split.ts';
import { findUnknownWriteContent, scanWriteRequest, separateWriteRequest } from '../../schemas/prometheus/scan.ts';
import { splitWriteRequest } from '../../schemas/prometheus/split.ts';
import type { RejectedBody, SeparatedRequest } from '../../schemas/protobuf/separate.ts';
import type { TimeRange } from '../../schemas/readable-times.ts';
import { type Encoding, type Format, maxMessageDecompressedBytes } from '../../schemas/telemetry-message.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { topics } from '../../schemas/topics.ts';
import { redactRequest, redactText, type SecretRedaction } from '../../subjects/secrets/redact.ts';
import {
  type BodyFormat,
  type BrowserContext,
  otlpProtobuf,
  type Publication,
  type TranslatedRequest,
} from './body-format.ts';

/** Telemetry signal, format and encoding of a body, as declared by its sender. */
export interface BodyShape {
  readonly signal: Signal;
  readonly format: BodyFormat;
  readonly encoding: Encoding | 'deflate';
  /** Times of records that can be accepted; any, if undefined. */
  readonly times?: TimeRange | undefined;
  /** Set for bodies that browsers sent. */
  readonly browser?: BrowserContext | undefined;
  /** Set for bodies whose secrets are replaced. */
  readonly redaction?: SecretRedaction | undefined;
}

/** A part of a body that cannot be accepted, as a body of its own, which is stored as a dead letter. */
export interface RejectedPart {
  /** Number of records; 0 if no record was found where records were expected. */
  readonly records: number;
  readonly reason: string;
  /** The first fault, as in the request. */
  readonly message: string;
  /** The same fault, as in `body`. */
  readonly fault: { readonly message: string; readonly position: number | undefined };
  /** Name of the format of `body`, which is not compressed. */
  readonly format: string;
  readonly body: Uint8Array;
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
  /** Messages of other telemetry signals in the same body. Their records are part of `records`. */
  readonly additional: readonly AdditionalParts[];
  readonly publications: readonly Publication[];
  /** Events of recordings in the body, which are dropped. */
  readonly droppedRecordings: number;
  readonly removedValues: number;
  readonly maskedValues: number;
  /** Sessions of browsers in the body. */
  readonly sessions: readonly string[];
  readonly rejectedParts: readonly RejectedPart[];
}

/** Records of a body that belong to another telemetry signal than its request. */
export interface AdditionalParts {
  readonly signal: Signal;
  readonly format: Format;
  readonly records: number;
  readonly messageParts: readonly MessagePart[];
}

/** Maximum bytes of a message's value; the rest is for headers, which grow with members. */
export const maxValueBytes = topics.logs.maxMessageBytes - 64 * 1024;

interface CheckResult {
  readonly records: number;
  readonly writeCounts: WriteCounts | undefined;
}

const getWriteVersion = ({ messageFormat }: BodyFormat): 1 | 2 => (messageFormat === 'remote-write-1' ? 1 : 2);

const checkBody = ({ signal, format, times }: BodyShape, plain: Buffer): CheckResult => {
  if (format.messageFormat === 'otlp')
    return { records: scanRequest(signal, plain, times).records, writeCounts: undefined };
  const writeCounts = scanWriteRequest(getWriteVersion(format), plain, times);
  return { records: writeCounts.samples + writeCounts.histograms, writeCounts };
};

interface CheckedBody extends CheckResult {
  readonly body: Buffer;
  readonly additional?: readonly AdditionalParts[];
  readonly publications?: readonly Publication[];
  readonly publishedRecords?: number;
  readonly droppedRecordings?: number;
  readonly removedValues?: number;
  readonly maskedValues?: number;
  readonly sessions?: readonly string[];
  readonly rejectedParts: readonly RejectedPart[];
}

const toRejectedPart = (
  { signal, times, browser }: BodyShape,
  format: BodyFormat,
  { records, error, body }: RejectedBody,
): RejectedPart => {
  const { message, position } = findFault({ signal, format, encoding: 'identity', times, browser }, body) ?? error;
  const fault = { message, position };
  return { records, reason: error.reason, message: error.message, fault, format: format.name, body };
};

/** Returns the fault of a body without valid records; undefined if it has none. */
const findFault = (shape: BodyShape, body: Buffer): PermanentError | undefined => {
  const { format, signal, times, browser } = shape;
  try {
    const translation = format.translate?.(body, signal, times, browser);
    checkBody(shape, translation?.body ?? body);
    return translation?.rejected?.error;
  } catch (error) {
    if (error instanceof PermanentError) return error;
    throw error;
  }
};

const separateBody = ({ signal, format, times }: BodyShape, plain: Buffer): SeparatedRequest | undefined =>
  format.messageFormat === 'otlp'
    ? separateRequest(signal, plain, times)
    : separateWriteRequest(getWriteVersion(format), plain, times);

/** Returns undefined if the body cannot be published unchanged. */
const tryCheckBody = (shape: BodyShape, plain: Buffer): CheckResult | undefined => {
  try {
    return checkBody(shape, plain);
  } catch (error) {
    if (error instanceof PermanentError) return undefined;
    throw error;
  }
};

/** Checks a body in its message format. Separates invalid records, unless all are invalid: then it throws. */
const checkRecords = (shape: BodyShape, plain: Buffer): CheckedBody => {
  try {
    return { ...checkBody(shape, plain), body: plain, rejectedParts: [] };
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    const separated = separateBody(shape, plain);
    if (separated === undefined) throw error;
    const { accepted, rejected } = separated;
    const result = tryCheckBody(shape, accepted);
    if (result === undefined || result.records === 0) throw error;
    const format = shape.format.translate === undefined ? shape.format : otlpProtobuf;
    return { ...result, body: accepted, rejectedParts: [toRejectedPart(shape, format, rejected)] };
  }
};

/** A position in the translated body does not apply to the original body. */
const checkTranslated = (shape: BodyShape, plain: Buffer): CheckedBody => {
  try {
    return checkRecords(shape, plain);
  } catch (cause) {
    throw cause instanceof PermanentError ? new PermanentError(cause.reason, cause.message, { cause }) : cause;
  }
};

const checkProtobuf = (shape: BodyShape, plain: Buffer): CheckedBody => {
  const checked = checkRecords(shape, plain);
  if (checked.records > 0) return checked;
  const { format, signal } = shape;
  const isOtlp = format.messageFormat === 'otlp';
  const position = isOtlp ? findUnknownContent(signal, plain) : findUnknownWriteContent(getWriteVersion(format), plain);
  if (position === undefined) return checked;
  const noun = isOtlp ? `record of ${signal}` : 'sample';
  const error = new PermanentError('no-records', `no ${noun} was found: a field is unknown here`, { position });
  // Remote-write has no response for partial success.
  if (!isOtlp) throw error;
  return { ...checked, rejectedParts: [toRejectedPart(shape, shape.format, { records: 0, error, body: plain })] };
};

/** Replaces secrets in what is published. Rejected records are stored encrypted, so they stay as they were received. */
const redactBody = (shape: BodyShape, checked: CheckedBody): CheckedBody => {
  const { redaction, signal, format } = shape;
  if (redaction === undefined) return checked;
  const { publications, rejectedParts } = checked;
  return {
    ...checked,
    body: format.messageFormat === 'otlp' ? redactRequest(signal, checked.body, redaction) : checked.body,
    ...(publications !== undefined && {
      publications: publications.map((publication) => ({
        ...publication,
        value: JSON.parse(redactText(JSON.stringify(publication.value), '', redaction)) as Publication['value'],
      })),
    }),
    rejectedParts: rejectedParts.map((part) => ({
      ...part,
      message: redactText(part.message, '', redaction),
      fault: { ...part.fault, message: redactText(part.fault.message, '', redaction) },
    })),
  };
};

const checkFormat = (shape: BodyShape, decompressed: Buffer): CheckedBody => {
  const { format, signal, times, browser } = shape;
  if (format.translate === undefined) return checkProtobuf(shape, decompressed);
  const translation = format.translate(decompressed, signal, times, browser);
  const { body, rejected, additionalRequests = [], publications = [], publishedRecords = 0 } = translation;
  const { droppedRecordings = 0, removedValues = 0, maskedValues = 0, sessions = [] } = translation;
  const checked = checkTranslated(shape, body);
  const additional = additionalRequests.map((request) => prepareAdditional(shape, request));
  const rejectedParts = rejected === undefined ? [] : [toRejectedPart(shape, format, rejected)];
  return {
    ...checked,
    additional,
    publications,
    publishedRecords,
    droppedRecordings,
    removedValues,
    maskedValues,
    sessions,
    rejectedParts: [...rejectedParts, ...checked.rejectedParts],
  };
};

/** Its records were checked by the translation. */
const prepareAdditional = (shape: BodyShape, { signal, format, body }: TranslatedRequest): AdditionalParts => {
  const { records } = checkBody({ ...shape, signal }, body);
  const { redaction } = shape;
  const published = redaction === undefined ? body : redactRequest(signal, body, redaction);
  return { signal, format, records, messageParts: splitBody({ ...shape, signal }, published) };
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
  additional: [],
  publications: [],
  droppedRecordings: 0,
  removedValues: 0,
  maskedValues: 0,
  sessions: [],
  rejectedParts: [],
};

/**
 * Returns whether the bytes are published unchanged: members support the encoding, and the content was not translated.
 */
const passesThrough = ({ format, encoding }: BodyShape): boolean =>
  format.translate === undefined && encoding !== 'deflate';

/** Prepares a body. Throws `PermanentError` if it is malformed and `TooLargeError` if it exceeds the cap. */
export const prepareBody = (shape: BodyShape, body: Buffer, limitBytes: number): PreparedBody => {
  // A protobuf message without fields has zero bytes. Zero bytes are neither JSON nor a compressed stream.
  if (body.length === 0 && shape.encoding === 'identity' && shape.format.translate === undefined) return emptyPrepared;
  const decompressed = shape.encoding === 'identity' ? body : decompress(shape.encoding, body, limitBytes);
  try {
    return prepareDecompressed(shape, body, decompressed);
  } catch (error) {
    if (error instanceof PermanentError) error.decompressedBytes = decompressed.length;
    throw error;
  }
};

const prepareDecompressed = (shape: BodyShape, body: Buffer, decompressed: Buffer): PreparedBody => {
  const { format } = shape;
  if (decompressed.length === 0 && format.translate === undefined) return emptyPrepared;
  const checked = redactBody(shape, checkFormat(shape, decompressed));
  const { body: plainBody, records: mainRecords, writeCounts, additional = [], rejectedParts } = checked;
  const { publications = [], publishedRecords = 0, sessions = [] } = checked;
  const { droppedRecordings = 0, removedValues = 0, maskedValues = 0 } = checked;
  const records = additional.reduce((sum, parts) => sum + parts.records, mainRecords + publishedRecords);
  if (format.messageFormat === 'otlp' && records === 0)
    return { ...emptyPrepared, droppedRecordings, removedValues, sessions, rejectedParts };
  const size = decompressed.length;
  const prepared = {
    size,
    records,
    writeCounts,
    additional,
    publications,
    droppedRecordings,
    removedValues,
    maskedValues,
    sessions,
    rejectedParts,
  };
  if (format.messageFormat === 'otlp' && mainRecords === 0) return { ...prepared, messageParts: [] };
  if (
    passesThrough(shape) &&
    plainBody === decompressed &&
    body.length <= maxValueBytes &&
    size <= maxMessageDecompressedBytes
  ) {
    const encoding = shape.encoding as Encoding;
    return { ...prepared, messageParts: [{ bytes: body, encoding, size, records }] };
  }
  if (plainBody.length <= maxValueBytes) {
    const part: MessagePart = {
      bytes: plainBody,
      encoding: 'identity',
      size: plainBody.length,
      records: mainRecords,
    };
    return { ...prepared, messageParts: [part] };
  }
  return { ...prepared, messageParts: splitBody(shape, plainBody) };
};
