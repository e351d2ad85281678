/**
 * Scanned part of a log body, as character codes. Bytes of the wire format are converted to a string only if words or
 * values of the body are requested.
 */
import { decodeText } from '../../schemas/otlp/any-value.ts';
import { isKey } from './keyed-body.ts';
import { BEYOND, characters } from './spans.ts';

/** Maximum number of scanned characters */
const MAX_LENGTH = 4096;
/** Number of additional codes after the text, for lookahead; the longest lookahead is the longest HTTP method. */
const MARGIN = 16;

const { SPACE, LETTER, DIGIT, JOINT, classes } = characters;
const emptyBytes: Uint8Array = new Uint8Array(0);

/** Returns where a long text is truncated: after a complete word, unless the word is very long. */
const findTruncationEnd = (codes: Uint16Array): number => {
  for (let end = MAX_LENGTH; end > MAX_LENGTH / 2; end--)
    if (((classes[codes[end - 1] as number] as number) & (LETTER | DIGIT | JOINT)) === 0) return end;
  return MAX_LENGTH;
};

/** Returns the position after a key and its equals sign; 0 if there is no key at this position. */
const skipKey = (bytes: Uint8Array, from: number, to: number): number => {
  let position = from;
  while (position < to && isKey(bytes[position] as number)) position++;
  return position > from && position < to && bytes[position] === 61 ? position + 1 : 0;
};

/** Returns whether a body may be a JSON object or logfmt, which has at least two keys. */
const mayHaveKeys = (bytes: Uint8Array, from: number, to: number): boolean => {
  if (from < to && bytes[from] === 123) return true;
  let position = skipKey(bytes, from, to);
  if (position === 0 || bytes[position] === 34) return position > 0;
  while (position < to && (bytes[position] as number) > 32) position++;
  while (position < to && (bytes[position] as number) <= 32) position++;
  return skipKey(bytes, position, to) > 0;
};

export class BodyText {
  readonly codes = new Uint16Array(MAX_LENGTH + MARGIN);
  /** Start and end of the first non-empty line. */
  start = 0;
  end = 0;
  readonly #memory = Buffer.from(this.codes.buffer);
  /** View of the same codes, two per element */
  readonly #pairs = new Int32Array(this.codes.buffer);
  #viewedBytes = emptyBytes;
  #view = new DataView(emptyBytes.buffer);
  #text: string | undefined = '';
  #bytes = emptyBytes;
  #bytesStart = 0;

  /** Returns the text up to at least the end of the line. */
  get text(): string {
    this.#text ??= decodeText(this.#bytes, this.#bytesStart, this.#bytesStart + this.end);
    return this.#text;
  }

  readText(text: string): void {
    const { codes } = this;
    this.#memory.write(text, 0, 2 * MAX_LENGTH, 'utf16le');
    // The text is truncated first, so that no later step reads beyond the limit.
    const length = text.length > MAX_LENGTH ? findTruncationEnd(codes) : text.length;
    this.#text = text.length > length ? text.slice(0, length) : text;
    this.#bytes = emptyBytes;
    let start = 0;
    while (start < length && classes[codes[start] as number] === SPACE) start++;
    const line = this.#text.indexOf('\n', start);
    this.#setBounds(start, line < 0 ? length : line, length);
  }

  /**
   * Reads the line from bytes. Returns false without reading if a string is required: for non-ASCII characters, and for
   * a body that may be JSON or logfmt.
   */
  readBytes(bytes: Uint8Array, from: number, to: number): boolean {
    if (mayHaveKeys(bytes, from, to)) return false;
    const { codes } = this;
    const length = Math.min(to - from, MAX_LENGTH);
    let start = 0;
    let code: number = SPACE;
    for (; start < length; start++) {
      code = bytes[from + start] as number;
      if (code > 32) break;
      codes[start] = code;
    }
    let end = start > 0 ? start : this.#copyAscii(bytes, from, length);
    for (; end < length; end++) {
      code = bytes[from + end] as number;
      if (code > 127) return false;
      codes[end] = code;
      if (code === 10) break;
    }
    // The line break is included, as for a string.
    let readLength = Math.min(end + 1, length);
    if (end === MAX_LENGTH && to - from > MAX_LENGTH) readLength = end = findTruncationEnd(codes);
    this.#text = undefined;
    this.#bytes = bytes;
    this.#bytesStart = from;
    this.#setBounds(start, end, readLength);
    return true;
  }

  /**
   * Copies four characters at a time, up to a line break or a non-ASCII character, and returns the number of
   * characters.
   */
  #copyAscii(bytes: Uint8Array, from: number, length: number): number {
    if (bytes !== this.#viewedBytes) {
      this.#viewedBytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    const view = this.#view;
    const pairs = this.#pairs;
    const lastStart = length - 4;
    let position = 0;
    for (; position <= lastStart; position += 4) {
      const word = view.getInt32(from + position, true);
      const lineBreaks = word ^ 0x0a0a0a0a;
      if (((word | ((lineBreaks - 0x01010101) & ~lineBreaks)) & 0x80808080) !== 0) break;
      pairs[position >> 1] = (word & 0xff) | ((word & 0xff00) << 8);
      pairs[(position >> 1) + 1] = ((word >>> 16) & 0xff) | ((word >>> 8) & 0xff0000);
    }
    return position;
  }

  #setBounds(start: number, end: number, readLength: number): void {
    this.start = start;
    this.end = end;
    for (let position = readLength; position < readLength + MARGIN; position++) this.codes[position] = BEYOND;
  }
}
