import { isUtf8 } from 'node:buffer';
import type { PermanentError } from '../errors.ts';
import { findInvalidUtf8 } from '../protobuf/utf8.ts';
import { JsonReader } from './json-reader.ts';

const quote = 0x22;
const backslash = 0x5c;
/** Bytes that are in memory after the position, unless the text ends before: more than any number or literal has. */
const minAheadBytes = 64 * 1024;
/** Bytes of a string that are read; the rest of a longer one is skipped. */
const maxStringBytes = 32 * 1024;
/** `\\u` and four digits */
const maxEscapeBytes = 6;

/** Returns the number of bytes at the end that begin a character without completing it. */
const countIncompleteBytes = (bytes: Uint8Array): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte >> 6 === 2) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
};

const getEscapeLength = (kind: number | undefined): number => (kind === 0x75 ? maxEscapeBytes : 2);

/**
 * Reads a JSON text that arrives in chunks, with a part of it in memory. Of long strings, at least 32,000 bytes are read.
 * Positions in errors are those in the text.
 * Chunks are copied.
 */
export class JsonChunkReader extends JsonReader {
  readonly #chunks: Iterator<Uint8Array>;
  #isComplete = false;
  /** Begins with `text`, after which at most three bytes of an incomplete character follow. */
  #memory = Buffer.alloc(0);
  #length = 0;
  /** Bytes of the text before `text` */
  #skippedBytes = 0;

  constructor(chunks: Iterable<Uint8Array>) {
    super(Buffer.alloc(0));
    this.#chunks = chunks[Symbol.iterator]();
  }

  override createFault(message: string, position = this.position, reason = 'malformed'): PermanentError {
    return super.createFault(message, position + this.#skippedBytes, reason);
  }

  override peek(): number {
    for (;;) {
      const byte = super.peek();
      if (byte >= 0 && this.text.length - this.position >= minAheadBytes) return byte;
      if (!this.#readChunk()) return byte;
    }
  }

  // The last token is no longer needed here, but it is while a name and its colon are read.
  override beginObject(): boolean {
    this.#releaseToken();
    return super.beginObject();
  }

  override beginArray(): boolean {
    this.#releaseToken();
    return super.beginArray();
  }

  override hasMoreMembers(): boolean {
    this.#releaseToken();
    return super.hasMoreMembers();
  }

  override hasMoreElements(): boolean {
    this.#releaseToken();
    return super.hasMoreElements();
  }

  override readString(): void {
    const end = this.text.indexOf(quote, this.position + 1);
    if (end < 0 || this.text[end - 1] === backslash) this.#shortenString();
    super.readString();
  }

  #releaseToken(): void {
    this.start = this.position;
    this.end = this.position;
  }

  /** Reads chunks until the string ends, and removes what follows its first bytes. */
  #shortenString(): void {
    const textPosition = this.position + this.#skippedBytes;
    this.#releaseToken();
    let length = 1;
    let retainedLength: number | undefined;
    for (;;) {
      length = this.#readAhead(length, retainedLength);
      const byte = this.text[this.position + length];
      if (byte === undefined) throw super.createFault('the string does not end', textPosition);
      if (byte === quote || byte < 0x20) break;
      length += byte === backslash ? getEscapeLength(this.text[this.position + length + 1]) : 1;
      if (retainedLength === undefined && length > maxStringBytes) retainedLength = length;
    }
    if (retainedLength !== undefined) this.#remove(retainedLength, length);
  }

  /** Reads chunks until an escape after `length` bytes of a string is in memory. Returns the length without what it removes. */
  #readAhead(length: number, retainedLength = length): number {
    if (this.position + length + maxEscapeBytes <= this.text.length) return length;
    this.#remove(retainedLength, length);
    while (this.position + retainedLength + maxEscapeBytes > this.text.length && this.#readChunk());
    return retainedLength;
  }

  /** Removes bytes of the string at the position. */
  #remove(start: number, end: number): void {
    this.#memory.copyWithin(this.position + start, this.position + end, this.#length);
    this.#length -= end - start;
    this.#skippedBytes += end - start;
    this.text = this.#memory.subarray(0, this.text.length - (end - start));
  }

  /** Appends a chunk to the bytes from the last token on. Returns false at the end of the text. */
  #readChunk(): boolean {
    if (this.#isComplete) return false;
    const retainedStart = Math.min(this.start, this.position);
    this.#memory.copyWithin(0, retainedStart, this.#length);
    this.#skippedBytes += retainedStart;
    this.position -= retainedStart;
    this.start -= retainedStart;
    this.end -= retainedStart;
    this.#length -= retainedStart;
    const readLength = this.text.length - retainedStart;
    const { done, value } = this.#chunks.next();
    this.#isComplete = done === true;
    if (done !== true) this.#append(value);
    const added = this.#memory.subarray(readLength, this.#length);
    const complete = done === true ? added : added.subarray(0, added.length - countIncompleteBytes(added));
    if (!isUtf8(complete)) {
      const position = readLength + findInvalidUtf8(complete, 0, complete.length);
      throw this.createFault('the JSON text is not UTF-8', position, 'bad-utf8');
    }
    this.text = this.#memory.subarray(0, readLength + complete.length);
    return done !== true;
  }

  #append(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    if (length > this.#memory.length) {
      const memory = Buffer.allocUnsafeSlow(2 * length);
      this.#memory.copy(memory, 0, 0, this.#length);
      this.#memory = memory;
    }
    this.#memory.set(chunk, this.#length);
    this.#length = length;
  }
}
