/**
 * Decompression under a cap. Every stream stands alone and must be consumed to its last byte: Node's own calls stop
 * at the end of the first stream (zstd, deflate) or overlook trailing NULs (gzip), which would lose what follows.
 */
import { promisify } from 'node:util';
import {
  constants,
  gunzip,
  gunzipSync,
  inflate,
  inflateRaw,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
  type ZstdOptions,
  zstdDecompress,
  zstdDecompressSync,
} from 'node:zlib';
import { compressSync, uncompress, uncompressSync } from 'snappy';
import { PermanentError } from './errors.ts';
import type { Encoding } from './telemetry-message.ts';

/** What senders may use. `deflate` is zlib's format; the raw form that some send under that name is accepted too. */
export type BodyEncoding = Encoding | 'deflate';

/** The decompressed body would be larger than the cap. Receivers answer 413 or RESOURCE_EXHAUSTED. */
export class TooLargeError extends PermanentError {
  readonly capBytes: number;

  constructor(capBytes: number) {
    super('too-large', `the body is larger than ${capBytes} bytes once decompressed`);
    this.name = 'TooLargeError';
    this.capBytes = capBytes;
  }
}

/** What zlib's calls return with `info: true`, which its types leave out. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}
type Options = ZlibOptions & ZstdOptions;
type Sync = (bytes: Uint8Array, options: Options) => unknown;
type Async = (bytes: Uint8Array, options: Options) => Promise<unknown>;
type Compressed = Exclude<BodyEncoding, 'identity' | 'snappy'> | 'deflate-raw';

const inflaters: Readonly<Record<Compressed, readonly [sync: Sync, async: Async]>> = {
  gzip: [gunzipSync, promisify<Uint8Array, Options, unknown>(gunzip)],
  deflate: [inflateSync, promisify<Uint8Array, Options, unknown>(inflate)],
  'deflate-raw': [inflateRawSync, promisify<Uint8Array, Options, unknown>(inflateRaw)],
  zstd: [zstdDecompressSync, promisify<Uint8Array, Options, unknown>(zstdDecompress)],
};

const smallestChunk = 16 * 1024;
const largestChunk = 1024 * 1024;
/** RFC 9659: a receiver of the zstd content coding need not offer a window above 8 MB. */
const zstdWindowLog = 23;

const optionsFor = (encoding: Compressed, bytes: Uint8Array, capBytes: number): Options => ({
  info: true,
  maxOutputLength: capBytes,
  // One chunk that fits spares the copy that joins many. Telemetry shrinks four to eight times.
  chunkSize: Math.min(largestChunk, Math.max(smallestChunk, bytes.length * 8)),
  ...(encoding === 'zstd' ? { params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLog } } : {}),
});

/** A zlib header is a multiple of 31 and names method 8; what fails that is taken for raw deflate. */
const isZlib = (bytes: Uint8Array): boolean => {
  const [first = 0, second = 0] = bytes;
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
};

const formatOf = (encoding: Exclude<BodyEncoding, 'identity' | 'snappy'>, bytes: Uint8Array): Compressed =>
  encoding === 'deflate' && !isZlib(bytes) ? 'deflate-raw' : encoding;

const whole = (encoding: BodyEncoding, bytes: Uint8Array, { buffer, engine }: Inflated): Buffer => {
  if (engine.bytesWritten === bytes.length) return buffer;
  const extra = bytes.length - engine.bytesWritten;
  throw new PermanentError('bad-encoding', `${extra} bytes follow the end of the ${encoding} stream`);
};

const inflateFault = (encoding: BodyEncoding, capBytes: number, cause: unknown): Error => {
  if (cause instanceof PermanentError) return cause;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'ERR_BUFFER_TOO_LARGE') return new TooLargeError(capBytes);
  // Out of memory is no fault of the body: it may pass when it is tried again.
  if (code === 'Z_MEM_ERROR' || code === 'ZSTD_error_memory_allocation') return cause as Error;
  return new PermanentError('bad-encoding', `the body is not a whole ${encoding} stream`, { cause });
};

/** No snappy element makes more than 64 bytes of 3, so a claim above that ratio is false: not worth allocating for. */
const snappyRatio = 22;

/** Copying the output into V8's memory costs a sixth of registering it as memory of its own (150 against 940 µs for 270 kB). */
const snappyOptions = { asBuffer: true, copyOutputData: true } as const;

const checkSnappyLength = (bytes: Uint8Array, capBytes: number): void => {
  let length = 0;
  for (let index = 0; ; index++) {
    const byte = bytes[index];
    if (byte === undefined || index > 4) throw new PermanentError('bad-encoding', 'the snappy block has no length');
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) break;
  }
  if (length > capBytes) throw new TooLargeError(capBytes);
  if (length > bytes.length * snappyRatio) {
    throw new PermanentError('bad-encoding', `the snappy block claims ${length} bytes, more than it can hold`);
  }
};

const asIs = (bytes: Uint8Array, capBytes: number): Buffer => {
  if (bytes.length > capBytes) throw new TooLargeError(capBytes);
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};

/**
 * The decompressed body. Damage, truncation and trailing bytes are a `PermanentError` (`bad-encoding`); above
 * `capBytes` a `TooLargeError`, before more than about that much has been allocated. `identity` is not copied.
 */
export const decompress = (encoding: BodyEncoding, bytes: Uint8Array, capBytes: number): Buffer => {
  if (encoding === 'identity') return asIs(bytes, capBytes);
  try {
    if (encoding === 'snappy') {
      checkSnappyLength(bytes, capBytes);
      return uncompressSync(bytes, snappyOptions) as Buffer;
    }
    const format = formatOf(encoding, bytes);
    return whole(encoding, bytes, inflaters[format][0](bytes, optionsFor(format, bytes, capBytes)) as Inflated);
  } catch (cause) {
    throw inflateFault(encoding, capBytes, cause);
  }
};

/** As `decompress`, on the thread pool. `bytes` must not change meanwhile. */
export const decompressAsync = async (encoding: BodyEncoding, bytes: Uint8Array, capBytes: number): Promise<Buffer> => {
  if (encoding === 'identity') return asIs(bytes, capBytes);
  try {
    if (encoding === 'snappy') {
      checkSnappyLength(bytes, capBytes);
      return (await uncompress(bytes, snappyOptions)) as Buffer;
    }
    const format = formatOf(encoding, bytes);
    return whole(encoding, bytes, (await inflaters[format][1](bytes, optionsFor(format, bytes, capBytes))) as Inflated);
  } catch (cause) {
    throw inflateFault(encoding, capBytes, cause);
  }
};

/** One snappy block, as remote-write bodies are. */
export const compressSnappy = (bytes: Uint8Array): Buffer => compressSync(bytes, snappyOptions);
