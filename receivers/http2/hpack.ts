/** Header compression for HTTP/2, RFC 7541: a decoder with its dynamic table, and an encoder without one. */
import { createCompressionError } from './errors.ts';
import { decodeHuffman } from './huffman.ts';
import { type Headers, RequestHeaders } from './request-headers.ts';

/** Appendix A, from index 1 on: names, and values after the first colon that is not part of the name. */
const staticTable: readonly Field[] = (
  ':authority |:method GET|:method POST|:path /|:path /index.html|:scheme http|:scheme https|:status 200|:status 204|' +
  ':status 206|:status 304|:status 400|:status 404|:status 500|accept-charset |accept-encoding gzip, deflate|' +
  'accept-language |accept-ranges |accept |access-control-allow-origin |age |allow |authorization |cache-control |' +
  'content-disposition |content-encoding |content-language |content-length |content-location |content-range |' +
  'content-type |cookie |date |etag |expect |expires |from |host |if-match |if-modified-since |if-none-match |' +
  'if-range |if-unmodified-since |last-modified |link |location |max-forwards |proxy-authenticate |' +
  'proxy-authorization |range |referer |refresh |retry-after |server |set-cookie |strict-transport-security |' +
  'transfer-encoding |user-agent |vary |via |www-authenticate '
)
  .split('|')
  .map((text) => {
    const space = text.indexOf(' ');
    return { name: text.slice(0, space), value: text.slice(space + 1) };
  });

interface Field {
  readonly name: string;
  readonly value: string;
}

/** Size of an entry in addition to its strings, section 4.1. */
const entryOverhead = 32;
const isSizeUpdate = (first: number): boolean => first >= 0x20 && first < 0x40;
const getFieldSize = ({ name, value }: Field): number => name.length + value.length + entryOverhead;

/** Maximum size of a cached block. Clients often send the same bytes repeatedly. */
const maxCachedBlockBytes = 1024;

export interface DecodeResult {
  readonly headers: Headers;
  /** Whether the list exceeds the limit: `headers` has its beginning. */
  readonly isTooLarge: boolean;
  /** Reason why the headers are not a valid request (RFC 9113, section 8); undefined if they are valid. */
  readonly requestFault: string | undefined;
  /** Reason why a field is invalid in any message, also in trailers, which need not form a request. */
  readonly fieldFault: string | undefined;
}

export interface HpackOptions {
  /** `SETTINGS_HEADER_TABLE_SIZE` as announced. */
  readonly maxTableBytes?: number;
  /** `SETTINGS_MAX_HEADER_LIST_SIZE`, in the units of section 4.1. */
  readonly maxListBytes?: number;
}

/** Decodes the header blocks of one connection, in order. */
export class HpackDecoder {
  readonly #maxTableBytes: number;
  readonly #maxListBytes: number;
  /** The newest entry is the last. */
  readonly #table: Field[] = [];
  #tableBytes = 0;
  #tableLimitBytes: number;
  #block: Buffer = Buffer.alloc(0);
  #position = 0;
  /** Whether the block changed the table. */
  #isTableChanged = false;
  /** The last block that did not change the table, with its result. */
  #cachedResult: { readonly block: Buffer; readonly decoded: DecodeResult } | undefined;

  constructor({ maxTableBytes = 4096, maxListBytes = 16 * 1024 }: HpackOptions = {}) {
    this.#maxTableBytes = maxTableBytes;
    this.#tableLimitBytes = maxTableBytes;
    this.#maxListBytes = maxListBytes;
  }

  /**
   * Decodes a block. Throws a `ConnectionError` if it cannot be decoded; the table is then lost. The result may be
   * shared.
   */
  decode(block: Buffer): DecodeResult {
    if (this.#cachedResult?.block.equals(block)) return this.#cachedResult.decoded;
    this.#block = block;
    this.#position = 0;
    this.#cachedResult = undefined;
    this.#isTableChanged = false;
    while (this.#position < block.length && isSizeUpdate(block[this.#position] as number))
      this.#resize(this.#readInteger(5));
    const request = new RequestHeaders();
    let bytes = 0;
    while (this.#position < block.length) {
      const field = this.#readField(block[this.#position] as number);
      bytes += getFieldSize(field);
      if (bytes <= this.#maxListBytes) request.add(field.name, field.value);
    }
    const isTooLarge = bytes > this.#maxListBytes;
    const { headers, fieldError: fieldFault } = request;
    const decoded: DecodeResult = { headers, isTooLarge, requestFault: request.findFault(), fieldFault };
    if (!this.#isTableChanged && block.length <= maxCachedBlockBytes)
      this.#cachedResult = { block: Buffer.from(block), decoded };
    return decoded;
  }

  /** Decodes a field by the type in its first byte, section 6. */
  #readField(first: number): Field {
    if (first >= 0x80) return this.#getEntry(this.#readInteger(7));
    if (isSizeUpdate(first)) throw createCompressionError('a size update of the table follows a field');
    if (first < 0x20) return this.#readLiteral(4);
    const field = this.#readLiteral(6);
    this.#insert(field);
    return field;
  }

  #getEntry(index: number): Field {
    const field =
      index <= staticTable.length
        ? staticTable[index - 1]
        : this.#table[this.#table.length - (index - staticTable.length)];
    if (field === undefined) throw createCompressionError(`the header table has no entry ${index}`);
    return field;
  }

  #readLiteral(prefixBits: number): Field {
    const index = this.#readInteger(prefixBits);
    const name = index === 0 ? this.#readString() : this.#getEntry(index).name;
    return { name, value: this.#readString() };
  }

  /** Decodes an integer, section 5.1. */
  #readInteger(prefixBits: number): number {
    const block = this.#block;
    const prefixMax = (1 << prefixBits) - 1;
    let value = (block[this.#position++] as number) & prefixMax;
    if (value < prefixMax) return value;
    for (let shift = 0; ; shift += 7) {
      const byte = block[this.#position++];
      if (byte === undefined) throw createCompressionError('a header block ends within a number');
      // No number here is as large as 2^28, regardless of leading zeros.
      if (shift > 21) throw createCompressionError('a number in a header block is too large');
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  /** Decodes a string, section 5.2. Bytes become Latin-1 characters. */
  #readString(): string {
    const block = this.#block;
    if (this.#position >= block.length) throw createCompressionError('a header block ends where a string should begin');
    const isHuffman = (block[this.#position] as number) >= 0x80;
    const length = this.#readInteger(7);
    const from = this.#position;
    this.#position += length;
    if (this.#position > block.length) throw createCompressionError('a header block ends within a string');
    if (isHuffman) return decodeHuffman(block, from, this.#position);
    return block.toString('latin1', from, this.#position);
  }

  #insert(field: Field): void {
    const bytes = getFieldSize(field);
    this.#isTableChanged = true;
    this.#evict(this.#tableLimitBytes - bytes);
    if (bytes > this.#tableLimitBytes) return;
    this.#table.push(field);
    this.#tableBytes += bytes;
  }

  #resize(bytes: number): void {
    if (bytes > this.#maxTableBytes)
      throw createCompressionError(
        `a header table of ${bytes} bytes is above the ${this.#maxTableBytes} that were announced`,
      );
    this.#tableLimitBytes = bytes;
    this.#isTableChanged = true;
    this.#evict(bytes);
  }

  #evict(maxBytes: number): void {
    while (this.#tableBytes > Math.max(maxBytes, 0)) {
      const oldest = this.#table.shift();
      if (oldest === undefined) return;
      this.#tableBytes -= getFieldSize(oldest);
    }
  }
}

const staticIndexes = new Map<string, number>();
for (const [index, { name, value }] of staticTable.entries()) {
  if (!staticIndexes.has(name)) staticIndexes.set(name, index + 1);
  if (value !== '') staticIndexes.set(`${name} ${value}`, index + 1);
}

const appendInteger = (target: number[], first: number, prefixBits: number, value: number): void => {
  const prefixMax = (1 << prefixBits) - 1;
  if (value < prefixMax) return void target.push(first | value);
  target.push(first | prefixMax);
  let rest = value - prefixMax;
  for (; rest >= 0x80; rest >>>= 7) target.push((rest & 0x7f) | 0x80);
  target.push(rest);
};

const appendString = (target: number[], text: string): void => {
  const bytes = Buffer.from(text, 'latin1');
  appendInteger(target, 0, 7, bytes.length);
  for (const byte of bytes) target.push(byte);
};

/**
 * Encodes a header block without a dynamic table, so it can be sent on any connection at any time. Names must be
 * lower-case; values are bytes as Latin-1.
 */
const encodeHeaderBlock = (headers: Headers): Buffer => {
  const bytes: number[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const fieldIndex = staticIndexes.get(`${name} ${value}`);
    if (fieldIndex !== undefined) {
      appendInteger(bytes, 0x80, 7, fieldIndex);
      continue;
    }
    const nameIndex = staticIndexes.get(name) ?? 0;
    appendInteger(bytes, 0, 4, nameIndex);
    if (nameIndex === 0) appendString(bytes, name);
    appendString(bytes, value);
  }
  return Buffer.from(bytes);
};

const frozenBlocks = new WeakMap<Headers, Buffer>();

/** Like `encodeHeaderBlock`, but encodes frozen headers only once. */
export const encodeHeaderBlockOnce = (headers: Headers): Buffer => {
  if (!Object.isFrozen(headers)) return encodeHeaderBlock(headers);
  let block = frozenBlocks.get(headers);
  if (block === undefined) {
    block = encodeHeaderBlock(headers);
    frozenBlocks.set(headers, block);
  }
  return block;
};

/**
 * Tells the peer that this side uses no dynamic table, as required after the peer announced a table smaller than the
 * default.
 */
export const emptyTableUpdate: Buffer = Buffer.from([0x20]);
