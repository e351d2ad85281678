/**
 * Compresses responses with gzip: every client supports it, and Brotli needs several times the CPU time for dynamic content.
 */
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, gzip, type ZlibOptions } from 'node:zlib';
import type { Context } from 'koa';

/** Smaller responses are not compressed: they fit into one packet anyway. */
const minBytes = 1024;

const compressibleTypes = /^(?:text\/|application\/(?:[\w.+-]*json|yaml|xml|javascript)\b)/;

/** Responses below this path contain tokens: the compressed size would leak information about them. */
const tokenPathPrefix = '/auth/';

/** Compression level. For metrics, level 6 saves another 10 % compared to 3, but takes 2.5 times the CPU time. */
const compressionLevel = 3;

const gzipAsync = promisify<string | Uint8Array, ZlibOptions, Buffer>(gzip);

/** Compresses a complete text outside the event loop. */
export const compressText = (text: string | Uint8Array): Promise<Buffer> =>
  gzipAsync(text, { level: compressionLevel });

/**
 * Compresses the response if the client accepts gzip and the response is large enough. `state.gzipped` returns the
 * compressed form of a static response. Each chunk of a stream is sent immediately.
 */
export const compressResponse = async (context: Context): Promise<void> => {
  const body: unknown = context.body;
  if (!compressibleTypes.test(context.response.get('content-type')) || context.path.startsWith(tokenPathPrefix)) return;
  if (context.res.hasHeader('content-encoding')) return;
  // A compressed response would need a weak tag, and `If-Match` compares strong ones (RFC 9110, 13.1.1).
  if (context.res.hasHeader('etag')) return;
  const isText = typeof body === 'string' || body instanceof Uint8Array;
  if (isText ? body.length < minBytes : !(body instanceof Readable)) return;
  context.vary('Accept-Encoding');
  if (context.method === 'HEAD' || context.acceptsEncodings('gzip', 'identity') !== 'gzip') return;
  context.body = isText ? await compressBody(context, body) : compressStream(body as Readable);
  context.set('Content-Encoding', 'gzip');
};

const compressBody = (context: Context, text: string | Uint8Array): Promise<Buffer> => {
  const cachedCompression = context.state['gzipped'] as (() => Promise<Buffer>) | undefined;
  return cachedCompression === undefined ? compressText(text) : cachedCompression();
};

/** An error of the source, or a client that disconnects, ends both streams. */
const compressStream = (source: Readable): Readable =>
  pipeline(source, createGzip({ level: compressionLevel, flush: constants.Z_SYNC_FLUSH }), () => undefined);
