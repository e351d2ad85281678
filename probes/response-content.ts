/** Text of a response: decompressed, and decoded by the charset that it declares. */
import type { Readable, Transform } from 'node:stream';
import { TextDecoder } from 'node:util';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib';

/** Codings of RFC 9110, 8.4.1, RFC 7932 and RFC 8878. Servers send `deflate` with and without its zlib header. */
const decoders: Readonly<Record<string, (first: number) => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: (first) => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw()),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress(),
};

/** Thrown for a response that is not in its declared coding */
export class ContentCodingError extends Error {
  override name = 'ContentCodingError';
}

export interface Content {
  readonly bytes: Buffer;
  /** Whether the content is longer, and only its beginning was read */
  readonly isTruncated: boolean;
}

/** Reads at most `maxBytes` of a source. With `isPartial`, a source that fails ends instead. */
const readUpTo = async (
  source: AsyncIterable<Buffer>,
  maxBytes: number,
  { isPartial = false } = {},
): Promise<Content> => {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of source) {
      chunks.push(chunk);
      size += chunk.length;
      // Leaving the loop destroys the source.
      if (size > maxBytes) break;
    }
  } catch (error) {
    if (!isPartial) throw error;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isTruncated: isPartial || size > maxBytes };
};

const decode = async (content: Content, coding: string, maxBytes: number): Promise<Content> => {
  const createDecoder = decoders[coding];
  const [first] = content.bytes;
  // A response to HEAD has the headers of a content, and none.
  if (createDecoder === undefined || first === undefined) return content;
  const decoder = createDecoder(first);
  decoder.end(content.bytes);
  try {
    return await readUpTo(decoder as AsyncIterable<Buffer>, maxBytes, { isPartial: content.isTruncated });
  } catch (error) {
    throw new ContentCodingError(`sent content that is not ${coding}`, { cause: error });
  }
};

/**
 * Reads a response and decodes its content codings, at most `maxBytes` before and after that. Content of unknown codings
 * stays encoded. Rejects with a `ContentCodingError`.
 */
export const readContent = async (
  response: Readable,
  contentEncoding: string | undefined,
  maxBytes: number,
): Promise<Content> => {
  let content = await readUpTo(response as AsyncIterable<Buffer>, maxBytes);
  const codings = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim());
  for (const coding of codings.toReversed()) content = await decode(content, coding, maxBytes);
  return content;
};

const findDecoder = (charset: string | undefined): TextDecoder | undefined => {
  try {
    return charset === undefined ? undefined : new TextDecoder(charset);
  } catch {
    return undefined;
  }
};

/** Bytes in which documents declare their charset (HTML, "prescan a byte stream") */
const prescanLength = 1024;

/** The rest of a document from its first `meta`, or nothing */
const findMeta = (html: string): string => {
  const at = html.toLowerCase().indexOf('<meta');
  return at < 0 ? '' : html.slice(at);
};

/** Charset that a document declares itself: in the declaration of XML, or in `meta` of HTML. */
const declaredCharset = (bytes: Buffer): string | undefined => {
  const start = bytes.toString('latin1', 0, prescanLength);
  return (
    /^<\?xml[^>]{0,256}?encoding\s{0,8}=\s{0,8}["']([\w.:-]{1,40})/i.exec(start)?.[1] ??
    /charset\s{0,8}=\s{0,8}["']?([\w.:-]{1,40})/i.exec(findMeta(start))?.[1]
  );
};

const byteOrderMarks: readonly (readonly [string, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** Returns the charset of a content: of its byte order mark, its header, or the document; else UTF-8. */
export const findCharset = (bytes: Buffer, contentType: string | undefined): string => {
  const marked = byteOrderMarks.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))?.[0];
  const inHeader = /;\s{0,16}charset\s{0,8}=\s{0,8}"?([\w.:+-]{1,40})/i.exec(contentType ?? '')?.[1];
  const decoder = [marked, inHeader, declaredCharset(bytes)].map(findDecoder).find((one) => one !== undefined);
  // A document whose declaration can be read as ASCII is not in UTF-16.
  const isWrong = decoder?.encoding.startsWith('utf-16') === true && marked === undefined && inHeader === undefined;
  return decoder === undefined || isWrong ? 'utf-8' : decoder.encoding;
};

/** Decodes bytes, without a byte order mark. If they are the beginning of more, it ends at a complete character. */
export const decodeText = (bytes: Buffer, charset: string, { isTruncated = false } = {}): string =>
  new TextDecoder(charset).decode(bytes, { stream: isTruncated });
