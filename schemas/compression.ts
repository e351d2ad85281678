/**
 * Decompression with a size limit. A body must be consumed to its last byte. Node's own calls stop at the end of the
 * first frame (zstd) or stream (deflate), or ignore trailing NULs (gzip), which would lose the remaining data.
 */
import {
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
  type ZstdOptions,
  zstdDecompressSync,
} from 'node:zlib';
import { compressSync, uncompressSync } from 'snappy';
import { PermanentError } from './errors.ts';
import type { Encoding } from './telemetry-message.ts';

/**
 * Encodings that senders may use. `deflate` is the zlib format. The raw form that some senders use under that name is
 * accepted too.
 */
export type BodyEncoding = Encoding | 'deflate';

/** The decompressed body would exceed the limit. Receivers return 413 or RESOURCE_EXHAUSTED. */
export class TooLargeError extends PermanentError {
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super('too-large', `the body is larger than ${maxBytes} bytes once decompressed`);
    this.name = 'TooLargeError';
    this.maxBytes = maxBytes;
  }
}

/** Result of zlib calls with `info: true`, which the type declarations omit */
interface InflateResult {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}
type Options = ZlibOptions & ZstdOptions;
type InflateFormat = Exclude<BodyEncoding, 'identity' | 'snappy'> | 'deflate-raw';

const inflaters: Readonly<Record<InflateFormat, (bytes: Uint8Array, options: Options) => unknown>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  'deflate-raw': inflateRawSync,
  zstd: zstdDecompressSync,
};

const minChunkBytes = 16 * 1024;
const maxChunkBytes = 1024 * 1024;
/** RFC 9659: a receiver of the zstd content coding need not support a window above 8 MB. */
const zstdWindowLog = 23;

const buildInflateOptions = (encoding: InflateFormat, bytes: Uint8Array, maxBytes: number): Options => ({
  info: true,
  maxOutputLength: maxBytes,
  // If one chunk fits the result, no copy is needed to join several. Telemetry shrinks four to eight times.
  chunkSize: Math.min(maxChunkBytes, Math.max(minChunkBytes, bytes.length * 8)),
  ...(encoding === 'zstd' ? { params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLog } } : {}),
});

/** A zlib header is a multiple of 31 and specifies method 8. Other data is treated as raw deflate. */
const isZlib = (bytes: Uint8Array): boolean => {
  const [first = 0, second = 0] = bytes;
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
};

const detectFormat = (encoding: 'gzip' | 'deflate', bytes: Uint8Array): InflateFormat =>
  encoding === 'deflate' && !isZlib(bytes) ? 'deflate-raw' : encoding;

/** Decompresses the first stream or frame of `bytes`. */
const inflate = (format: InflateFormat, bytes: Uint8Array, maxBytes: number): InflateResult =>
  inflaters[format](bytes, buildInflateOptions(format, bytes, maxBytes)) as InflateResult;

/** Each frame costs a call. A body of many tiny frames would block the thread. */
const maxFrames = 256;

/** Returns the end of the skippable frame (RFC 8878, 3.1.2) that begins at `at`; `undefined` if there is none. */
const findSkippableEnd = (bytes: Buffer, start: number): number | undefined => {
  if (bytes.length - start < 8 || (bytes.readUInt32LE(start) & 0xfffffff0) !== 0x184d2a50) return undefined;
  return start + 8 + bytes.readUInt32LE(start + 4);
};

/** Decompresses all frames, each separately. The limit applies to their sum. */
const decompressZstd = (bytes: Buffer, maxBytes: number): Buffer => {
  const parts: Buffer[] = [];
  let size = 0;
  let position = 0;
  for (let frames = 0; position < bytes.length || frames === 0; frames++) {
    if (frames === maxFrames)
      throw new PermanentError('bad-encoding', `the body has more than ${maxFrames} zstd frames`);
    const end = findSkippableEnd(bytes, position);
    if (end !== undefined) {
      if (end > bytes.length) throw new PermanentError('bad-encoding', 'the last zstd frame is cut off');
      position = end;
      continue;
    }
    // zlib treats zero as no limit. The excess byte is detected here.
    const { buffer, engine } = inflate('zstd', bytes.subarray(position), Math.max(1, maxBytes - size));
    position += engine.bytesWritten;
    size += buffer.length;
    if (size > maxBytes) throw new TooLargeError(maxBytes);
    parts.push(buffer);
  }
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : Buffer.concat(parts, size);
};

const requireCompleteInput = (encoding: BodyEncoding, bytes: Uint8Array, { buffer, engine }: InflateResult): Buffer => {
  if (engine.bytesWritten === bytes.length) return buffer;
  const extraBytes = bytes.length - engine.bytesWritten;
  throw new PermanentError('bad-encoding', `${extraBytes} bytes follow the end of the ${encoding} stream`);
};

const toInflateError = (encoding: BodyEncoding, maxBytes: number, cause: unknown): Error => {
  if (cause instanceof PermanentError) return cause;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'ERR_BUFFER_TOO_LARGE') return new TooLargeError(maxBytes);
  // Lack of memory is not an error in the body: a retry may succeed.
  if (code === 'Z_MEM_ERROR' || code === 'ZSTD_error_memory_allocation') return cause as Error;
  return new PermanentError('bad-encoding', `the body is not a complete ${encoding} stream`, { cause });
};

/**
 * No Snappy element expands 3 bytes to more than 64, so a declared size above that ratio must be wrong and is not allocated.
 */
const snappyRatio = 22;

/**
 * Copying the output into V8's memory costs a sixth of registering it as external memory (150 against 940 µs for 270
 * kB).
 */
const snappyOptions = { asBuffer: true, copyOutputData: true } as const;

const checkSnappyLength = (bytes: Uint8Array, maxBytes: number): void => {
  let length = 0;
  for (let index = 0; ; index++) {
    const byte = bytes[index];
    if (byte === undefined || index > 4) throw new PermanentError('bad-encoding', 'the snappy block has no length');
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) break;
  }
  if (length > maxBytes) throw new TooLargeError(maxBytes);
  if (length > bytes.length * snappyRatio) {
    throw new PermanentError('bad-encoding', `the snappy block declares ${length} bytes, more than it can contain`);
  }
};

const toBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/**
 * Returns the decompressed body. Throws `PermanentError` (`bad-encoding`) for damaged, truncated or trailing bytes.
 * Throws `TooLargeError` above `maxBytes`, before much more than that is allocated. `identity` is not copied.
 */
export const decompress = (encoding: BodyEncoding, bytes: Uint8Array, maxBytes: number): Buffer => {
  if (encoding === 'identity') {
    if (bytes.length > maxBytes) throw new TooLargeError(maxBytes);
    return toBuffer(bytes);
  }
  try {
    if (encoding === 'zstd') return decompressZstd(toBuffer(bytes), maxBytes);
    if (encoding === 'snappy') {
      checkSnappyLength(bytes, maxBytes);
      return uncompressSync(bytes, snappyOptions) as Buffer;
    }
    const format = detectFormat(encoding, bytes);
    return requireCompleteInput(encoding, bytes, inflate(format, bytes, maxBytes));
  } catch (cause) {
    throw toInflateError(encoding, maxBytes, cause);
  }
};

/** Compresses one Snappy block, the format of remote-write bodies. */
export const compressSnappy = (bytes: Uint8Array): Buffer => compressSync(bytes, snappyOptions);
