/** gRPC framing over HTTP/2: length-prefixed messages, and statuses in trailers. */
import { encodeStatus } from '../engine/status.ts';
import type { ServerStream, StreamHandler } from './grpc-server.ts';

/** gRPC status codes used here. */
export const statusCode = {
  ok: 0,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const;

export const headerBytes = 5;

/** Prefixes a message with its flag and length. */
export const frameMessage = (message: Uint8Array): Buffer => {
  const framedMessage = Buffer.allocUnsafe(headerBytes + message.length);
  framedMessage[0] = 0;
  framedMessage.writeUInt32BE(message.length, 1);
  framedMessage.set(message, headerBytes);
  return framedMessage;
};

const emptyMessage = frameMessage(new Uint8Array(0));
const responseHeaders = Object.freeze({
  ':status': '200',
  'content-type': 'application/grpc',
  'grpc-accept-encoding': 'identity,gzip,deflate,zstd',
});
const okTrailers = Object.freeze({ 'grpc-status': '0' });

/** Responds with one message and OK. */
export const respondWithMessage = (stream: ServerStream, framed: Buffer = emptyMessage): void => {
  if (stream.hasResponded) return;
  stream.respond(responseHeaders);
  stream.write(framed);
  stream.end(okTrailers);
};

/** Starts a stream of messages, which `endMessages` ends. */
export const beginMessages = (stream: ServerStream): void => stream.respond(responseHeaders);

/** Ends a stream of messages with OK. */
export const endMessages = (stream: ServerStream): void => stream.end(okTrailers);

const unsafeCharacters = /[^\x20-\x24\x26-\x7e]/gu;

/** Percent-encodes as gRPC specifies: everything except printable ASCII, and the percent sign itself. */
const percentEncode = (text: string): string =>
  text.replace(unsafeCharacters, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );

/** Responds with only a status. With `retryAfterSeconds` clients retain their data and retry. */
export const respondWithError = (
  stream: ServerStream,
  status: number,
  message: string,
  retryAfterSeconds?: number,
): void => {
  if (stream.isClosed) return;
  const details =
    retryAfterSeconds === undefined
      ? {}
      : { 'grpc-status-details-bin': encodeStatus(status, message, retryAfterSeconds).toString('base64') };
  const trailers = { 'grpc-status': String(status), 'grpc-message': percentEncode(message), ...details };
  if (stream.hasResponded) stream.end(trailers);
  else stream.respond({ ...responseHeaders, ...trailers }, true);
};

const unitsMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/** Parses `grpc-timeout` to milliseconds; undefined if it is absent or invalid. */
export const parseTimeoutMs = (header: string | undefined): number | undefined => {
  if (header === undefined) return undefined;
  const unit = unitsMs[header.slice(-1)];
  const amount = header.slice(0, -1);
  return unit === undefined || !/^\d{1,8}$/.test(amount) ? undefined : Number(amount) * unit;
};

/** Calls `onMessage` with every complete message of a stream, in order. A message above the cap ends the call. */
export const createMessageReader = (
  stream: ServerStream,
  limitBytes: number,
  onMessage: (message: Buffer) => void,
  { end, closed }: { end?: () => void; closed?: () => void } = {},
): StreamHandler => {
  let unreadBytes: Buffer = Buffer.alloc(0);
  return {
    data(chunk) {
      unreadBytes = unreadBytes.length === 0 ? chunk : Buffer.concat([unreadBytes, chunk]);
      while (unreadBytes.length >= headerBytes && !stream.isClosed) {
        const length = unreadBytes.readUInt32BE(1);
        if (length > limitBytes)
          return respondWithError(stream, statusCode.resourceExhausted, 'the message is too large');
        if (unreadBytes[0] !== 0)
          return respondWithError(stream, statusCode.unimplemented, 'compressed messages are not accepted here');
        if (unreadBytes.length < headerBytes + length) return;
        const message = unreadBytes.subarray(headerBytes, headerBytes + length);
        unreadBytes = unreadBytes.subarray(headerBytes + length);
        onMessage(message);
      }
    },
    end: () => end?.(),
    closed: () => closed?.(),
  };
};
