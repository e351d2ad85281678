import type { IncomingMessage } from 'node:http';
import { PackedBytes } from '../../runtime/packed-bytes.ts';
import { ApiError, createFieldError } from '../errors.ts';

const maxDepth = 64;
/** Time limit for the whole body; 1 MiB requires about 70 kB per second, and larger bodies at most 1 MiB per second. */
const minBodyTimeoutMs = 15_000;
const bodyMsPerByte = 1_000 / (1024 * 1024);

/** Whether a request has a body. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Whether the content type is JSON. */
export const isJson = ({ headers }: IncomingMessage): boolean =>
  /^application\/(?:json|[\w.-]+\+json)\s*(?:;|$)/i.test(headers['content-type'] ?? '');

/** Reads a form-encoded body of at most `maxBytes` bytes. */
export const readForm = async (request: IncomingMessage, maxBytes: number): Promise<string> => {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      'the body must be a form (Content-Type: application/x-www-form-urlencoded)',
    );
  return (await readBytes(request, maxBytes)).toString();
};

/** Reads a JSON body of at most `maxBytes` bytes, `maxDepth` levels and `maxElements` elements per array. */
export const readJson = async (request: IncomingMessage, maxBytes: number, maxElements: number): Promise<unknown> => {
  if (!isJson(request))
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'the body must be JSON (Content-Type: application/json)');
  const bytes = await readBytes(request, maxBytes);
  requireShallow(bytes);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? cause.message : 'it is not UTF-8';
    throw new ApiError('VALIDATION_FAILED', 'the body is not JSON', {
      details: [{ path: '', message: `the body is not JSON: ${reason}` }],
      cause,
    });
  }
  validateValues(value, maxElements);
  return value;
};

/**
 * Reads the bytes of a body. Throws 413 if it exceeds `maxBytes`, without reading the rest, 415 if it is compressed, and
 * 400 if it takes too long.
 */
export const readBytes = async (request: IncomingMessage, maxBytes: number): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  await readChunks(request, maxBytes, (chunk) => chunks.push(chunk));
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
};

/** Reads the bytes of a body like `readBytes`, and compresses them as they arrive. */
export const readPackedBytes = async (request: IncomingMessage, maxBytes: number): Promise<PackedBytes> => {
  const bytes = new PackedBytes();
  await readChunks(request, maxBytes, (chunk) => bytes.take(chunk));
  bytes.end();
  return bytes;
};

const readChunks = (request: IncomingMessage, maxBytes: number, onChunk: (chunk: Buffer) => void): Promise<void> => {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    const message = `the content encoding ${encoding} is not supported here`;
    return Promise.reject(new ApiError('UNSUPPORTED_MEDIA_TYPE', message));
  }
  const tooLargeError = () =>
    new ApiError('PAYLOAD_TOO_LARGE', `the body is larger than ${maxBytes} bytes`, {
      headers: { Connection: 'close' },
    });
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLargeError());
  return new Promise((resolve, reject) => {
    let byteCount = 0;
    const bodyTimeoutMs = Math.max(minBodyTimeoutMs, maxBytes * bodyMsPerByte);
    const timeout = setTimeout(() => {
      request.pause();
      const message = `the body did not arrive within ${Math.round(bodyTimeoutMs / 1000)} seconds`;
      const details = [{ path: '', message }];
      reject(new ApiError('VALIDATION_FAILED', message, { details, headers: { Connection: 'close' } }));
    }, bodyTimeoutMs);
    request.on('data', (chunk: Buffer) => {
      byteCount += chunk.length;
      if (byteCount > maxBytes) {
        request.pause();
        reject(tooLargeError());
      } else onChunk(chunk);
    });
    request.on('end', () => {
      clearTimeout(timeout);
      resolve();
    });
    request.on('error', (cause) =>
      reject(new ApiError('VALIDATION_FAILED', 'the connection closed before the end of the body', { cause })),
    );
    request.on('close', () => {
      clearTimeout(timeout);
      reject(new ApiError('VALIDATION_FAILED', 'the body ended early'));
    });
  });
};

const [quote, backslash, openBrace, openBracket, closeBrace, closeBracket, comma, colon] = Buffer.from('"\\{[}],:');
const maxPathLength = 1024;

/** Rejects JSON that is nested too deeply. */
export const requireShallow = (bytes: Uint8Array): void => {
  const position = findTooDeepPosition(bytes);
  if (position !== undefined)
    throw createFieldError(computePath(bytes, position), `the body is nested deeper than ${maxDepth} levels`);
};

/**
 * Position at which brackets outside strings are nested too deeply. Scans bytes, so that a body beyond the limit is
 * never parsed.
 */
const findTooDeepPosition = (bytes: Uint8Array): number | undefined => {
  let depth = 0;
  for (let position = 0; position < bytes.length; position++) {
    const byte = bytes[position];
    if (byte === quote) position = findStringEnd(bytes, position);
    else if (byte === openBrace || byte === openBracket) {
      if (++depth > maxDepth) return position;
    } else if (byte === closeBrace || byte === closeBracket) depth--;
  }
  return undefined;
};

/** Computes the path to a byte: the names and indexes of the values that contain it. */
const computePath = (bytes: Uint8Array, end: number): string => {
  const path: (string | number)[] = [];
  let text = bytes.subarray(0, 0);
  for (let position = 0; position < end; position++) {
    if (bytes[position] === quote) {
      const start = position + 1;
      position = findStringEnd(bytes, position);
      text = bytes.subarray(start, position);
    } else advancePath(path, bytes[position], text);
  }
  return path.join('.').slice(0, maxPathLength);
};

/** Updates the path for one byte outside of strings; `text` is the last string before it. */
const advancePath = (path: (string | number)[], byte: number | undefined, text: Uint8Array): void => {
  const last = path.at(-1);
  if (byte === openBrace) path.push('');
  else if (byte === openBracket) path.push(0);
  else if (byte === closeBrace || byte === closeBracket) path.pop();
  else if (byte === colon) path[path.length - 1] = Buffer.from(text).toString();
  else if (byte === comma && typeof last === 'number') path[path.length - 1] = last + 1;
};

const findStringEnd = (bytes: Uint8Array, start: number): number => {
  let position = start + 1;
  while (position < bytes.length && bytes[position] !== quote) position += bytes[position] === backslash ? 2 : 1;
  return position;
};

const validateValues = (root: unknown, maxElements: number): void => {
  const pending: unknown[] = [root];
  for (let value = pending.pop(); pending.length > 0 || value !== undefined; value = pending.pop()) {
    if (typeof value === 'string') requireWellFormed(value);
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value) && value.length > maxElements)
      throw createFieldError('', `an array in the body has more than ${maxElements} elements`);
    for (const key of Object.keys(value)) {
      requireWellFormed(key);
      if (key === '__proto__') throw createFieldError('__proto__', 'is not a known field');
      pending.push((value as Record<string, unknown>)[key]);
    }
  }
};

/** Rejects a lone surrogate: RFC 8785 cannot represent it, so an audit record could not contain it. */
const requireWellFormed = (text: string): void => {
  if (!text.isWellFormed()) throw createFieldError('', 'a string in the body has a lone surrogate');
};
