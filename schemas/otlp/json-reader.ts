/**
 * Reads JSON text token by token. Unlike `JSON.parse`, it preserves all digits of numbers, reports the position of
 * an error, and limits the recursion depth.
 */
import { PermanentError } from '../errors.ts';

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;
const colon = 0x3a;
const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;

/** Maximum nesting of values with unknown names. */
const maxUnknownDepth = 100;

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= zero && byte <= 0x39;

export class JsonReader {
  /** Text, or the part of it that is in memory */
  text: Buffer;
  position = 0;
  /** Start of the bytes of the last token, without the quotes of a string. */
  start = 0;
  end = 0;
  /** Whether the last string has escapes; then use `readUnescaped`. */
  hasEscapes = false;
  /** Whether the last number has neither fraction nor exponent. */
  isInteger = false;

  constructor(text: Buffer) {
    this.text = text;
  }

  createFault(message: string, position = this.position, reason = 'malformed'): PermanentError {
    return new PermanentError(reason, message, { position });
  }

  /** Returns the first byte of the next token; -1 at the end of the text. */
  peek(): number {
    const text = this.text;
    let position = this.position;
    while (position < text.length) {
      const byte = text[position] as number;
      if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) break;
      position++;
    }
    this.position = position;
    return position < text.length ? (text[position] as number) : -1;
  }

  /** Begins an object. Returns `false` if it is empty. */
  beginObject(): boolean {
    if (this.peek() !== openBrace) throw this.createFault('expected an object');
    this.position++;
    return !this.#skipIfClosing(closeBrace);
  }

  /** Begins an array. Returns `false` if it is empty. */
  beginArray(): boolean {
    if (this.peek() !== openBracket) throw this.createFault('expected an array');
    this.position++;
    return !this.#skipIfClosing(closeBracket);
  }

  /** Returns whether another member follows. */
  hasMoreMembers(): boolean {
    return this.#hasMore(closeBrace, 'expected , or } in the object');
  }

  /** Returns whether another element follows. */
  hasMoreElements(): boolean {
    return this.#hasMore(closeBracket, 'expected , or ] in the array');
  }

  /** Reads a member name and the colon. */
  readKey(): void {
    if (this.peek() !== quote) throw this.createFault('expected a name in double quotes');
    this.readString();
    if (this.peek() !== colon) throw this.createFault('expected : after the name');
    this.position++;
  }

  /** Reads a string. The next byte must be its quote. */
  readString(): void {
    const text = this.text;
    const openingQuote = this.position;
    let position = openingQuote + 1;
    this.hasEscapes = false;
    for (;;) {
      const byte = text[position];
      if (byte === quote) break;
      if (byte === undefined) throw this.createFault('the string does not end', openingQuote);
      if (byte < 0x20) throw this.createFault('a control character in a string is not escaped', position);
      if (byte === backslash) {
        this.hasEscapes = true;
        position += this.#getEscapeLength(position);
      } else position++;
    }
    this.start = openingQuote + 1;
    this.end = position;
    this.position = position + 1;
  }

  /** Returns the value of the last string. */
  readUnescaped(): string {
    if (!this.hasEscapes) return this.text.toString('utf8', this.start, this.end);
    return JSON.parse(this.text.toString('utf8', this.start - 1, this.end + 1)) as string;
  }

  /** Reads a number in JSON syntax. */
  readNumber(): void {
    const text = this.text;
    const start = this.position;
    if (text[this.position] === minus) this.position++;
    if (text[this.position] === zero) this.position++;
    else this.#readDigits(start);
    this.isInteger = true;
    if (text[this.position] === dot) {
      this.isInteger = false;
      this.position++;
      this.#readDigits(start);
    }
    if (((text[this.position] ?? 0) | 0x20) === 0x65) {
      this.isInteger = false;
      this.position++;
      const sign = text[this.position];
      if (sign === minus || sign === 0x2b) this.position++;
      this.#readDigits(start);
    }
    this.start = start;
    this.end = this.position;
  }

  /** Reads `word` if it is the next token. */
  skipLiteral(word: 'null' | 'true' | 'false'): boolean {
    const { text, position } = this;
    for (let index = 0; index < word.length; index++) {
      if (text[position + index] !== word.charCodeAt(index)) return false;
    }
    this.position = position + word.length;
    return true;
  }

  /** Reads and discards any value that nests to at most `maxDepth`. */
  skipValue(maxDepth = maxUnknownDepth): void {
    if (maxDepth < 0) throw this.createFault(`values nest deeper than ${maxUnknownDepth}`, this.position, 'too-deep');
    const byte = this.peek();
    if (byte === openBrace) {
      for (let hasMore = this.beginObject(); hasMore; hasMore = this.hasMoreMembers()) {
        this.readKey();
        this.skipValue(maxDepth - 1);
      }
    } else if (byte === openBracket) {
      for (let hasMore = this.beginArray(); hasMore; hasMore = this.hasMoreElements()) this.skipValue(maxDepth - 1);
    } else if (byte === quote) this.readString();
    else if (byte === minus || isDigit(byte)) this.readNumber();
    else if (!this.skipLiteral('null') && !this.skipLiteral('true') && !this.skipLiteral('false')) {
      throw this.createFault(byte < 0 ? 'the text ends, but a value is expected' : 'expected a value');
    }
  }

  #skipIfClosing(bracket: number): boolean {
    if (this.peek() !== bracket) return false;
    this.position++;
    return true;
  }

  #hasMore(bracket: number, expectation: string): boolean {
    const byte = this.peek();
    if (byte !== comma && byte !== bracket) throw this.createFault(expectation);
    this.position++;
    return byte === comma;
  }

  #readDigits(start: number): void {
    const digitsStart = this.position;
    while (isDigit(this.text[this.position])) this.position++;
    if (this.position === digitsStart) throw this.createFault('the number is not complete', start);
  }

  #getEscapeLength(position: number): number {
    const kind = this.text[position + 1];
    if (kind === undefined) throw this.createFault('the string does not end', position);
    if (kind !== 0x75) {
      if (!'"\\/bfnrt'.includes(String.fromCharCode(kind)))
        throw this.createFault('unknown escape in a string', position);
      return 2;
    }
    const digits = this.text.toString('latin1', position + 2, position + 6);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.createFault('\\u needs four hexadecimal digits', position);
    return 6;
  }
}
