/** Compresses answers, with gzip: every client has it, and Brotli takes several times the processor for what changes with each request. */
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, gzip, type ZlibOptions } from 'node:zlib';
import type { Context } from 'koa';

/** Fewer bytes go in one packet anyway. */
const minBytes = 1024;

const texts = /^(?:text\/|application\/(?:[\w.+-]*json|yaml|xml|javascript)\b)/;

/** Answers there hold tokens: how long text compresses tells of what is in it. */
const tokens = '/auth/';

/** Of figures level 6 makes a tenth less than 3, for two and a half times the processor. */
const level = 3;

const compressWhole = promisify<string | Uint8Array, ZlibOptions, Buffer>(gzip);

/** Compresses a text as a whole, outside the event loop. */
export const gzipped = (text: string | Uint8Array): Promise<Buffer> => compressWhole(text, { level });

/**
 * Compresses the answer that is set where the client takes gzip and it pays. `state.gzipped` gives the compressed form of one that is always
 * the same. Each piece of a stream is sent when it is made.
 */
export const compress = async (context: Context): Promise<void> => {
  const body: unknown = context.body;
  if (!texts.test(context.response.get('content-type')) || context.path.startsWith(tokens)) return;
  if (context.res.hasHeader('content-encoding')) return;
  // Compressed it would need a weak tag, and `If-Match` compares strong ones (RFC 9110, 13.1.1).
  if (context.res.hasHeader('etag')) return;
  const isText = typeof body === 'string' || body instanceof Uint8Array;
  if (isText ? body.length < minBytes : !(body instanceof Readable)) return;
  context.vary('Accept-Encoding');
  if (context.method === 'HEAD' || context.acceptsEncodings('gzip', 'identity') !== 'gzip') return;
  context.body = isText ? await compressedText(context, body) : compressedStream(body as Readable);
  context.set('Content-Encoding', 'gzip');
};

const compressedText = (context: Context, text: string | Uint8Array): Promise<Buffer> => {
  const known = context.state['gzipped'] as (() => Promise<Buffer>) | undefined;
  return known === undefined ? gzipped(text) : known();
};

/** Errors of the pieces, and a client that leaves, end both. */
const compressedStream = (pieces: Readable): Readable =>
  pipeline(pieces, createGzip({ level, flush: constants.Z_SYNC_FLUSH }), () => undefined);
