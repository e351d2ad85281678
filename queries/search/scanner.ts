/** Scans a search character by character. */
import { createValidationError, type QueryError } from '../errors.ts';

/** Represents an unescaped asterisk in scanned texts. */
export const star = '\0';

/** Characters that a backslash escapes. Before others it is literal: `\d` and Windows paths need no second one. */
const escapable = new Set('\\"*:()[]{}<>/');

const nameCharacters = String.raw`(?:[\p{L}_@$]|\\[^\s])(?:[\p{L}\p{N}_.@$/-]|\\[^\s])*`;
/**
 * Matches the name of a field or attribute, with its colon, followed by a value. The colons of `https://a`,
 * `std::vector` and `error: no` are part of a text.
 */
const namePattern = new RegExp(String.raw`(${nameCharacters}):(?![\s):]|\/\/|$)`, 'uy');
const signedNamePattern = /[+!][\p{L}_@$][\p{L}\p{N}_.@$/-]*:(?![\s):]|\/\/|$)/uy;
/** Matches an address of IPv6 or of a device, which may begin like a name. */
const addressPattern =
  /(?:[\da-f]{1,4}(?::[\da-f]{1,4}){5,7}|(?=[\da-f:]*::)[\da-f]{1,4}(?::[\da-f]{0,4}){2,7})(?=[\s)]|$)/iy;

/** Matches a space, a name and the start of a value, which are rarely part of a regular expression. */
const nextName = String.raw`\s\(*(?:${nameCharacters}|"[^"]*"):`;
const nextNamePattern = new RegExp(String.raw`${nextName}[^\s)/]`, 'u');
const nextNameSlashPattern = new RegExp(String.raw`${nextName}\(*/`, 'u');
/** Matches a minus before a name, which negates the condition. */
const minusPattern = /-(?=[\p{L}_@$][\p{L}\p{N}_.@$/-]*:(?![\s):]|\/\/|$))/uy;

/** Matches characters that occur in regular expressions, but not in words and paths. */
const regexCharacterPattern = /\\|[|^]|\$$|[.)\]][*+?{]/;

/** Unescapes a text; asterisks become `star`. */
const unescapeText = (raw: string): string => {
  if (!/[\\*]/.test(raw)) return raw;
  let text = '';
  for (let at = 0; at < raw.length; at++) {
    const character = raw[at] as string;
    if (character === '\\' && escapable.has(raw[at + 1] ?? '')) text += raw[++at];
    else text += character === '*' ? star : character;
  }
  return text;
};

export class Scanner {
  readonly #text: string;
  readonly #path: string;
  position = 0;

  constructor(text: string, path: string) {
    this.#text = text;
    this.#path = path;
  }

  /** Returns an error at a position, by default the current one; columns start at 1. */
  error(message: string, at = this.position): QueryError {
    return createValidationError(this.#path, `column ${at + 1}: ${message}`);
  }

  get isDone(): boolean {
    return this.position >= this.#text.length;
  }

  skipSpace(): void {
    while (this.isSpace(this.position)) this.position++;
  }

  isSpace(at: number): boolean {
    return /^\s$/.test(this.#text[at] ?? '');
  }

  /** Returns whether the next character is this one. */
  isNext(character: string): boolean {
    return this.#text[this.position] === character;
  }

  /** Consumes a text if it is next. */
  tryConsume(text: string): boolean {
    if (!this.#text.startsWith(text, this.position)) return false;
    this.position += text.length;
    return true;
  }

  /** Consumes an operator, a word in capitals. */
  tryConsumeWord(word: string): boolean {
    if (!this.isWordNext(word)) return false;
    this.position += word.length;
    return true;
  }

  isWordNext(word: string): boolean {
    if (!this.#text.startsWith(word, this.position)) return false;
    const next = this.#text[this.position + word.length];
    return next === undefined || next === '(' || next === ')' || this.isSpace(this.position + word.length);
  }

  /** Consumes a minus before a name, if next; it means NOT, as in other search languages. */
  tryConsumeMinus(): boolean {
    minusPattern.lastIndex = this.position;
    if (!minusPattern.test(this.#text)) return false;
    this.position++;
    return true;
  }

  /** Consumes a name and its colon, if next. */
  consumeName(): string | undefined {
    if (this.isNext('"')) return this.#consumeQuotedName();
    signedNamePattern.lastIndex = this.position;
    if (signedNamePattern.test(this.#text))
      throw this.error(
        'expected a name, which begins with a letter; NOT before it excludes, and quotes around a name allow any',
      );
    addressPattern.lastIndex = this.position;
    if (addressPattern.test(this.#text)) return undefined;
    namePattern.lastIndex = this.position;
    const match = namePattern.exec(this.#text);
    if (match === null) return undefined;
    this.position += match[0].length;
    return unescapeText(match[1] as string).replaceAll(star, '*');
  }

  #consumeQuotedName(): string | undefined {
    const start = this.position;
    const text = this.consumeQuoted();
    const isName = this.isNext(':') && !this.isSpace(this.position + 1) && this.position + 1 < this.#text.length;
    this.position = isName ? this.position + 1 : start;
    return isName ? text : undefined;
  }

  /** Consumes a quoted text, which must be next. */
  consumeQuoted(): string {
    const start = this.position++;
    let text = '';
    for (; !this.isNext('"'); this.position++) {
      if (this.isDone) throw this.error('expected a closing quote for this one', start);
      if (this.isNext('\\') && /["\\]/.test(this.#text[this.position + 1] ?? '')) this.position++;
      text += this.#text[this.position];
    }
    this.position++;
    return text;
  }

  /**
   * Consumes a regular expression between slashes. It ends at the next unescaped slash before a space, a closing
   * parenthesis or the end. Without such a slash, the text is a path. Ambiguous texts are rejected, because the meaning
   * of a term must not depend on what follows.
   */
  consumeRegex(): string | undefined {
    const end = this.#findEndSlash();
    const source = this.#text.slice(this.position + 1, end);
    // The slash at the end belongs to a separate condition, such as `name:/path/`.
    if (end === undefined || source === '' || nextNameSlashPattern.test(source)) return undefined;
    const isOneWord = !/\s/.test(source);
    if (
      /^(?:[^\\/]|\\.)*\//s.test(source) ||
      !(isOneWord || (regexCharacterPattern.test(source) && !nextNamePattern.test(source)))
    )
      throw this.error(
        'this may be a path or a regular expression: quote the path, or write \\/ and \\s for slashes and spaces in the expression',
      );
    this.position = end + 1;
    return source.replaceAll('\\/', '/');
  }

  /** Returns the next unescaped slash that ends a word. */
  #findEndSlash(): number | undefined {
    for (let at = this.position + 1; at < this.#text.length; at++) {
      if (this.#text[at] === '\\') at++;
      else if (this.#text[at] === '/' && this.#isWordEnd(at + 1)) return at;
    }
    return undefined;
  }

  #isWordEnd(at: number): boolean {
    return at >= this.#text.length || this.#text[at] === ')' || this.isSpace(at);
  }

  /** Consumes characters up to a space, or to an unmatched closing parenthesis. Unescaped asterisks become `star`. */
  consumeBareText(): string {
    const start = this.position;
    let depth = 0;
    for (; !this.isDone && !this.isSpace(this.position); this.position++) {
      if (this.isNext('\\') && this.position + 1 < this.#text.length && !this.isSpace(this.position + 1))
        this.position++;
      else if (this.isNext('(')) depth++;
      else if (this.isNext(')') && depth-- === 0) break;
    }
    return unescapeText(this.#text.slice(start, this.position));
  }

  /** Consumes characters up to a space or a closing bracket. */
  consumeBound(): string {
    const start = this.position;
    while (!this.isDone && !this.isSpace(this.position) && !this.isNext(']') && !this.isNext('}'))
      this.position += this.isNext('\\') ? 2 : 1;
    this.position = Math.min(this.position, this.#text.length);
    return unescapeText(this.#text.slice(start, this.position));
  }
}
