/** Stores malformed bodies as dead letters: a copy of each, as received, is stored before the response. */
import { randomUUID } from 'node:crypto';
import { deriveFingerprintKey } from '../../runtime/fingerprint-key.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { buildDeadLetterMessages, type DeadLetterHeaders } from '../../schemas/dead-letter.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import type { TimeRange } from '../../schemas/readable-times.ts';
import type { Encoding } from '../../schemas/telemetry-message.ts';
import { type Signal, signals } from '../../schemas/telemetry-signals.ts';
import { redactText } from '../../subjects/secrets/redact.ts';
import type { BodyFormat, BrowserContext } from './body-format.ts';
import { type BodyShape, prepareBody, type RejectedPart } from './prepare.ts';
import { createMessages, type Origin, separateSignals } from './publisher.ts';
import { countBytes } from './request-body.ts';

const maxMessageCharacters = 1_024;

/** Properties of a request without its body. */
export interface ReceivedRequest extends Origin {
  readonly receiver: string;
  readonly shape: BodyShape;
  readonly contentType: string;
}

/** Why a body or record is rejected. */
export interface DeadLetterError {
  readonly reason: string;
  readonly message: string;
  readonly position?: number | undefined;
  readonly decompressedBytes?: number | undefined;
  /** Name of the body's format, if it is not that of the request. */
  readonly format?: string | undefined;
}

interface DeadLetterOptions {
  readonly error: DeadLetterError;
  /** Whether only the beginning of the body is available. */
  readonly isTruncated: boolean;
  /** Required for bodies of browsers, and of projects whose secrets are replaced */
  readonly secretBox: Pick<SecretBox, 'seal'> | undefined;
}

/** Purpose of encrypted bodies. */
const sealPurpose = 'dead-letter';
const browserHeader = 'browser';
/** Set if the secrets of the body are replaced during a replay. */
const redactionHeader = 'redacts-secrets';

const sealBody = (parts: readonly Uint8Array[], secretBox: DeadLetterOptions['secretBox']): Buffer => {
  if (secretBox === undefined) throw new TypeError('the body is stored only encrypted');
  return Buffer.from(secretBox.seal(sealPurpose, Buffer.concat(parts).toString('base64')));
};

/**
 * Returns the body of an encrypted dead letter. Throws `PermanentError` if it was encrypted with another secret key.
 */
const openSealedBody = (sealed: Buffer, secretBox: Pick<SecretBox, 'open'>): Buffer => {
  const text = secretBox.open(sealPurpose, sealed.toString());
  if (text === undefined)
    throw new PermanentError('sealed', 'the body was encrypted with another secret key (OIQ_SECRET_KEY)');
  return Buffer.from(text, 'base64');
};

const toOriginalHeaders = (traceparent: string, { browser, redaction }: BodyShape): Record<string, string> => ({
  ...(traceparent !== '' && { traceparent }),
  ...(browser !== undefined && { [browserHeader]: JSON.stringify(browser) }),
  ...(redaction !== undefined && { [redactionHeader]: 'true' }),
});

/**
 * Returns the messages of the dead letter of a rejected body. Bodies of browsers, and of projects whose secrets are
 * replaced, are encrypted.
 */
export const toDeadLetters = (
  { caller, signal, receiver, shape, contentType, receivedAtMs, source, traceparent }: ReceivedRequest,
  parts: readonly Uint8Array[],
  { error, isTruncated, secretBox }: DeadLetterOptions,
): Message[] => {
  const { reason, message, position, format = shape.format.name, decompressedBytes = countBytes(parts) } = error;
  const isSealed = shape.browser !== undefined || shape.redaction !== undefined;
  return buildDeadLetterMessages(
    {
      id: randomUUID(),
      tenantId: caller.tenantId,
      projectId: caller.projectId,
      keyId: caller.keyId,
      signal,
      origin: receiver,
      kind: 'refused',
      reason,
      message: (shape.redaction === undefined ? message : redactText(message, '', shape.redaction)).slice(
        0,
        maxMessageCharacters,
      ),
      position,
      receivedAtMs,
      source,
      contentType: contentType.slice(0, maxMessageCharacters),
      contentEncoding: shape.encoding,
      format,
      topic: '',
      partition: 0,
      offset: 0,
      originalHeaders: toOriginalHeaders(traceparent, shape),
      size: countBytes(parts),
      bytes: decompressedBytes,
      cut: isTruncated,
      ...(isSealed && { isSealed }),
    },
    isSealed ? [sealBody(parts, secretBox)] : parts,
  );
};

/** Returns the messages of the dead letter of records that were rejected while others of their request were accepted. */
export const toPartialDeadLetters = (
  request: ReceivedRequest,
  part: RejectedPart,
  secretBox: DeadLetterOptions['secretBox'],
): Message[] => {
  const { body, records, reason, fault, format } = part;
  const count = records === 1 ? '1 record' : `${records} records`;
  const message =
    records === 0 ? fault.message : `${fault.message} (${count}; the others of the request were accepted)`;
  const shape = { ...request.shape, encoding: 'identity' as const };
  const error = { reason, message, position: fault.position, format };
  return toDeadLetters({ ...request, shape }, [body], { error, isTruncated: false, secretBox });
};

const encodings = new Map<string, BodyShape['encoding']>([
  ['', 'identity'],
  ['identity', 'identity'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['zstd', 'zstd'],
  ['snappy', 'snappy'],
]);

/**
 * Returns the encoding of a header, undefined if it is not supported. Snappy is for remote write and Loki's protobuf.
 */
export const parseEncoding = (name: string): Encoding | 'deflate' | undefined => {
  const encoding = encodings.get(name);
  return encoding ?? encodings.get(name.trim().toLowerCase());
};

const parseShape = (headers: DeadLetterHeaders, format: BodyFormat, secretBox: SecretBox): BodyShape => {
  const encoding = parseEncoding(headers.contentEncoding);
  const signal = signals.find((name): name is Signal => name === headers.signal);
  if (encoding === undefined || signal === undefined)
    throw new PermanentError('bad-headers', 'the dead letter does not declare the format of its body');
  const browser = headers.originalHeaders[browserHeader];
  return {
    signal,
    format,
    encoding,
    browser: browser === undefined ? undefined : (JSON.parse(browser) as BrowserContext),
    ...(headers.originalHeaders[redactionHeader] !== undefined && {
      redaction: { tenantId: headers.tenantId, fingerprintKey: deriveFingerprintKey(secretBox) },
    }),
  };
};

/**
 * Validates the body of a rejected request again and returns the messages that a receiver would have published: the valid
 * records, and a dead letter of the others. Throws `PermanentError` if all are still invalid, if the body was cut, or if
 * it contains no records: a replay that stores nothing is not a success.
 */
export const republishRejected = (
  headers: DeadLetterHeaders,
  body: Buffer,
  shards: number,
  {
    format,
    limitBytes,
    times,
    secretBox,
  }: {
    readonly format: BodyFormat;
    readonly limitBytes: number;
    readonly times: TimeRange | undefined;
    readonly secretBox: SecretBox;
  },
): Message[] => {
  if (headers.cut)
    throw new PermanentError('cut', 'only the beginning of the body was stored, so it cannot be replayed');
  const shape = { ...parseShape(headers, format, secretBox), times };
  const prepared = prepareBody(shape, headers.isSealed ? openSealedBody(body, secretBox) : body, limitBytes);
  if (prepared.records === 0)
    throw new PermanentError('no-records', `the body contains no ${format.name} records: nothing was replayed`);
  const request: ReceivedRequest = {
    caller: { tenantId: headers.tenantId, projectId: headers.projectId, keyId: headers.keyId, shards },
    signal: shape.signal,
    format: format.messageFormat,
    source: headers.source,
    traceparent: headers.originalHeaders['traceparent'] ?? '',
    receivedAtMs: headers.receivedAtMs,
    receiver: headers.origin,
    shape,
    contentType: headers.contentType,
  };
  const deadLetters = prepared.rejectedParts.flatMap((part) => toPartialDeadLetters(request, part, secretBox));
  const messages = separateSignals(request, prepared).flatMap(({ origin, request: part }) =>
    createMessages(origin, part),
  );
  return [...messages, ...deadLetters];
};
