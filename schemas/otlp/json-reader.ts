/**
 * Reads JSON text token by token. Unlike `JSON.parse`, it preserves all digits of numbers, reports the position of a
 * fault, and limits the recursion depth.
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
  readonly text: Buffer;
  position = 0;
  /** Start of the bytes of the last token, without the quotes of a string. */
  start = 0;
  end = 0;
  /** Whether the last string has escapes; then use `unescaped`. */
  escaped = false;
  /** Whether the last number has neither fraction nor exponent. */
  integer = false;

  constructor(text: Buffer) {
    this.text = text;
  }

  fault(message: string, position = this.position, reason = 'malformed'): PermanentError {
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
    if (this.peek() !== openBrace) throw this.fault('expected an object');
    this.position++;
    return !this.#closes(closeBrace);
  }

  /** Begins an array. Returns `false` if it is empty. */
  beginArray(): boolean {
    if (this.peek() !== openBracket) throw this.fault('expected an array');
    this.position++;
    return !this.#closes(closeBracket);
  }

  /** Returns whether another member follows. */
  moreMembers(): boolean {
    return this.#more(closeBrace, 'expected , or } in the object');
  }

  /** Returns whether another element follows. */
  moreElements(): boolean {
    return this.#more(closeBracket, 'expected , or ] in the array');
  }

  /** Reads a member name and the colon. */
  key(): void {
    if (this.peek() !== quote) throw this.fault('expected a name in double quotes');
    this.string();
    if (this.peek() !== colon) throw this.fault('expected : after the name');
    this.position++;
  }

  /** Reads a string. The next byte must be its quote. */
  string(): void {
    const text = this.text;
    const opening = this.position;
    let position = opening + 1;
    this.escaped = false;
    for (;;) {
      const byte = text[position];
      if (byte === quote) break;
      if (byte === undefined) throw this.fault('the string does not end', opening);
      if (byte < 0x20) throw this.fault('a control character in a string is not escaped', position);
      if (byte === backslash) {
        this.escaped = true;
        position += this.#escapeLength(position);
      } else position++;
    }
    this.start = opening + 1;
    this.end = position;
    this.position = position + 1;
  }

  /** Returns the value of the last string. */
  unescaped(): string {
    if (!this.escaped) return this.text.toString('utf8', this.start, this.end);
    return JSON.parse(this.text.toString('utf8', this.start - 1, this.end + 1)) as string;
  }

  /** Reads a number in JSON syntax. */
  number(): void {
    const text = this.text;
    const start = this.position;
    if (text[this.position] === minus) this.position++;
    if (text[this.position] === zero) this.position++;
    else this.#digits(start);
    this.integer = true;
    if (text[this.position] === dot) {
      this.integer = false;
      this.position++;
      this.#digits(start);
    }
    if (((text[this.position] ?? 0) | 0x20) === 0x65) {
      this.integer = false;
      this.position++;
      const sign = text[this.position];
      if (sign === minus || sign === 0x2b) this.position++;
      this.#digits(start);
    }
    this.start = start;
    this.end = this.position;
  }

  /** Reads `word` if it is the next token. */
  literal(word: 'null' | 'true' | 'false'): boolean {
    const { text, position } = this;
    for (let index = 0; index < word.length; index++) {
      if (text[position + index] !== word.charCodeAt(index)) return false;
    }
    this.position = position + word.length;
    return true;
  }

  /** Reads and discards any value. */
  skipValue(depth = 0): void {
    if (depth > maxUnknownDepth) {
      throw this.fault(`values nest deeper than ${maxUnknownDepth}`, this.position, 'too-deep');
    }
    const byte = this.peek();
    if (byte === openBrace) {
      for (let more = this.beginObject(); more; more = this.moreMembers()) {
        this.key();
        this.skipValue(depth + 1);
      }
    } else if (byte === openBracket) {
      for (let more = this.beginArray(); more; more = this.moreElements()) this.skipValue(depth + 1);
    } else if (byte === quote) this.string();
    else if (byte === minus || isDigit(byte)) this.number();
    else if (!this.literal('null') && !this.literal('true') && !this.literal('false')) {
      throw this.fault(byte < 0 ? 'the text ends where a value is expected' : 'expected a value');
    }
  }

  #closes(bracket: number): boolean {
    if (this.peek() !== bracket) return false;
    this.position++;
    return true;
  }

  #more(bracket: number, expectation: string): boolean {
    const byte = this.peek();
    if (byte !== comma && byte !== bracket) throw this.fault(expectation);
    this.position++;
    return byte === comma;
  }

  #digits(start: number): void {
    const first = this.position;
    while (isDigit(this.text[this.position])) this.position++;
    if (this.position === first) throw this.fault('the number is not complete', start);
  }

  #escapeLength(position: number): number {
    const kind = this.text[position + 1];
    if (kind === undefined) throw this.fault('the string does not end', position);
    if (kind !== 0x75) {
      if (!'"\\/bfnrt'.includes(String.fromCharCode(kind))) throw this.fault('unknown escape in a string', position);
      return 2;
    }
    const digits = this.text.toString('latin1', position + 2, position + 6);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.fault('\\u needs four hexadecimal digits', position);
    return 6;
  }
}
