/** Header compression for HTTP/2, RFC 7541: a decoder with its dynamic table, and an encoder without one. */
import { compressionError } from './errors.ts';
import { huffmanDecoded } from './huffman.ts';
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

/** Size of an entry besides its strings, section 4.1. */
const entryOverhead = 32;
const isSizeUpdate = (first: number): boolean => first >= 0x20 && first < 0x40;
const sizeOf = ({ name, value }: Field): number => name.length + value.length + entryOverhead;

/** Maximum size of blocks to cache: clients often send the same bytes repeatedly. */
const maxCachedBlockBytes = 1024;

export interface Decoded {
  readonly headers: Headers;
  /** Whether the list exceeds the limit: `headers` has its beginning. */
  readonly tooLarge: boolean;
  /** Why this is not a request by RFC 9113, section 8; undefined if it is. */
  readonly malformed: string | undefined;
  /** Why one of its fields is not valid in any message; trailers need not form a request. */
  readonly badField: string | undefined;
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
  #allowedBytes: number;
  #block: Buffer = Buffer.alloc(0);
  #at = 0;
  /** Whether the block changed the table. */
  #changed = false;
  /** The last block that did not change the table, with its result. */
  #last: { readonly block: Buffer; readonly decoded: Decoded } | undefined;

  constructor({ maxTableBytes = 4096, maxListBytes = 16 * 1024 }: HpackOptions = {}) {
    this.#maxTableBytes = maxTableBytes;
    this.#allowedBytes = maxTableBytes;
    this.#maxListBytes = maxListBytes;
  }

  /**
   * Decodes a block. Throws a `ConnectionError` if it cannot be decoded; the table is then lost. The result may be
   * shared.
   */
  decode(block: Buffer): Decoded {
    if (this.#last?.block.equals(block)) return this.#last.decoded;
    this.#block = block;
    this.#at = 0;
    this.#last = undefined;
    this.#changed = false;
    while (this.#at < block.length && isSizeUpdate(block[this.#at] as number)) this.#resize(this.#integer(5));
    const request = new RequestHeaders();
    let bytes = 0;
    while (this.#at < block.length) {
      const field = this.#field(block[this.#at] as number);
      bytes += sizeOf(field);
      if (bytes <= this.#maxListBytes) request.add(field.name, field.value);
    }
    const tooLarge = bytes > this.#maxListBytes;
    const { headers, badField } = request;
    const decoded: Decoded = { headers, tooLarge, malformed: request.fault(), badField };
    if (!this.#changed && block.length <= maxCachedBlockBytes) this.#last = { block: Buffer.from(block), decoded };
    return decoded;
  }

  /** Decodes a field by the type in its first byte, section 6. */
  #field(first: number): Field {
    if (first >= 0x80) return this.#entry(this.#integer(7));
    if (isSizeUpdate(first)) throw compressionError('a size update of the table follows a field');
    if (first < 0x20) return this.#literal(4);
    const field = this.#literal(6);
    this.#insert(field);
    return field;
  }

  #entry(index: number): Field {
    const field =
      index <= staticTable.length
        ? staticTable[index - 1]
        : this.#table[this.#table.length - (index - staticTable.length)];
    if (field === undefined) throw compressionError(`the header table has no entry ${index}`);
    return field;
  }

  #literal(prefixBits: number): Field {
    const index = this.#integer(prefixBits);
    const name = index === 0 ? this.#string() : this.#entry(index).name;
    return { name, value: this.#string() };
  }

  /** Section 5.1. */
  #integer(prefixBits: number): number {
    const block = this.#block;
    const prefixMax = (1 << prefixBits) - 1;
    let value = (block[this.#at++] as number) & prefixMax;
    if (value < prefixMax) return value;
    for (let shift = 0; ; shift += 7) {
      const byte = block[this.#at++];
      if (byte === undefined) throw compressionError('a header block ends within a number');
      // No number here is as large as 2^28, regardless of leading zeros.
      if (shift > 21) throw compressionError('a number in a header block is too large');
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  /** Decodes a string, section 5.2. Bytes become Latin-1 characters. */
  #string(): string {
    const block = this.#block;
    if (this.#at >= block.length) throw compressionError('a header block ends where a string should begin');
    const isHuffman = (block[this.#at] as number) >= 0x80;
    const length = this.#integer(7);
    const from = this.#at;
    this.#at += length;
    if (this.#at > block.length) throw compressionError('a header block ends within a string');
    if (isHuffman) return huffmanDecoded(block, from, this.#at);
    return block.toString('latin1', from, this.#at);
  }

  #insert(field: Field): void {
    const bytes = sizeOf(field);
    this.#changed = true;
    this.#evict(this.#allowedBytes - bytes);
    if (bytes > this.#allowedBytes) return;
    this.#table.push(field);
    this.#tableBytes += bytes;
  }

  #resize(bytes: number): void {
    if (bytes > this.#maxTableBytes)
      throw compressionError(
        `a header table of ${bytes} bytes is above the ${this.#maxTableBytes} that were announced`,
      );
    this.#allowedBytes = bytes;
    this.#changed = true;
    this.#evict(bytes);
  }

  #evict(downTo: number): void {
    while (this.#tableBytes > Math.max(downTo, 0)) {
      const oldest = this.#table.shift();
      if (oldest === undefined) return;
      this.#tableBytes -= sizeOf(oldest);
    }
  }
}

const indexOf = new Map<string, number>();
for (const [index, { name, value }] of staticTable.entries()) {
  if (!indexOf.has(name)) indexOf.set(name, index + 1);
  if (value !== '') indexOf.set(`${name} ${value}`, index + 1);
}

const appendInteger = (into: number[], first: number, prefixBits: number, value: number): void => {
  const prefixMax = (1 << prefixBits) - 1;
  if (value < prefixMax) return void into.push(first | value);
  into.push(first | prefixMax);
  let rest = value - prefixMax;
  for (; rest >= 0x80; rest >>>= 7) into.push((rest & 0x7f) | 0x80);
  into.push(rest);
};

const appendString = (into: number[], text: string): void => {
  const bytes = Buffer.from(text, 'latin1');
  appendInteger(into, 0, 7, bytes.length);
  for (const byte of bytes) into.push(byte);
};

/**
 * Encodes a header block without changing a table, so that it can be sent on any connection at any time. Names must be
 * lower-case; values are bytes as Latin-1.
 */
const headerBlock = (headers: Headers): Buffer => {
  const bytes: number[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const whole = indexOf.get(`${name} ${value}`);
    if (whole !== undefined) {
      appendInteger(bytes, 0x80, 7, whole);
      continue;
    }
    const named = indexOf.get(name) ?? 0;
    appendInteger(bytes, 0, 4, named);
    if (named === 0) appendString(bytes, name);
    appendString(bytes, value);
  }
  return Buffer.from(bytes);
};

const frozenBlocks = new WeakMap<Headers, Buffer>();

/** As `headerBlock`, encoded once for frozen headers. */
export const blockOf = (headers: Headers): Buffer => {
  if (!Object.isFrozen(headers)) return headerBlock(headers);
  let block = frozenBlocks.get(headers);
  if (block === undefined) {
    block = headerBlock(headers);
    frozenBlocks.set(headers, block);
  }
  return block;
};

/** Announces that this side has no table, as required if a peer announced a smaller one than the default. */
export const emptyTable: Buffer = Buffer.from([0x20]);
