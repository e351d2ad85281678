/** Scans a search character by character. */
import { invalid, type QueryError } from '../errors.ts';

/** Represents an unescaped asterisk in scanned texts. */
export const star = '\0';

/** Characters that a backslash escapes. Before others it is literal: `\d` and Windows paths need no second one. */
const escapable = new Set('\\"*:()[]{}<>/');

const nameCharacters = String.raw`(?:[\p{L}_@$]|\\[^\s])(?:[\p{L}\p{N}_.@$/-]|\\[^\s])*`;
/** Matches the name of a field or attribute, with its colon, followed by a value. */
const name = new RegExp(String.raw`(${nameCharacters}):(?![\s)]|\/\/|$)`, 'uy');
const excluded = /[+!][\p{L}_@$][\p{L}\p{N}_.@$/-]*:(?![\s)]|\/\/|$)/uy;

/** Matches a space, a name and a possible value: rarely part of an expression. */
const nextName = String.raw`\s\(*(?:${nameCharacters}|"[^"]*"):`;
const named = new RegExp(String.raw`${nextName}[^\s)/]`, 'u');
const namedSlash = new RegExp(String.raw`${nextName}\(*/`, 'u');
/** Matches a minus before a name, which negates. */
const minus = /-(?=[\p{L}_@$][\p{L}\p{N}_.@$/-]*:(?![\s)]|\/\/|$))/uy;

/** Matches characters that words and paths do not contain. */
const ofExpressions = /\\|[|^]|\$$|[.)\]][*+?{]/;

/** Unescapes a text; asterisks become `star`. */
const unescaped = (raw: string): string => {
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
  at = 0;

  constructor(text: string, path: string) {
    this.#text = text;
    this.#path = path;
  }

  /** Returns an error at a position, by default the current one; columns start at 1. */
  error(message: string, at = this.at): QueryError {
    return invalid(this.#path, `column ${at + 1}: ${message}`);
  }

  get isDone(): boolean {
    return this.at >= this.#text.length;
  }

  space(): void {
    while (this.isSpace(this.at)) this.at++;
  }

  isSpace(at: number): boolean {
    return /^\s$/.test(this.#text[at] ?? '');
  }

  /** Returns whether the next character is this one. */
  peeks(character: string): boolean {
    return this.#text[this.at] === character;
  }

  /** Consumes a text if it is next. */
  tryConsume(text: string): boolean {
    if (!this.#text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  /** Consumes an operator, a word in capitals. */
  tryConsumeWord(word: string): boolean {
    if (!this.peeksWord(word)) return false;
    this.at += word.length;
    return true;
  }

  peeksWord(word: string): boolean {
    if (!this.#text.startsWith(word, this.at)) return false;
    const next = this.#text[this.at + word.length];
    return next === undefined || next === '(' || next === ')' || this.isSpace(this.at + word.length);
  }

  /** Returns whether a minus with a name is next: NOT, in the syntax of other languages. */
  tryConsumeMinus(): boolean {
    minus.lastIndex = this.at;
    if (!minus.test(this.#text)) return false;
    this.at++;
    return true;
  }

  /** Consumes a name and its colon, if next. */
  name(): string | undefined {
    if (this.peeks('"')) return this.#quotedName();
    excluded.lastIndex = this.at;
    if (excluded.test(this.#text))
      throw this.error(
        'expected a name, which begins with a letter; NOT before it excludes, and quotes around a name allow any',
      );
    name.lastIndex = this.at;
    const match = name.exec(this.#text);
    if (match === null) return undefined;
    this.at += match[0].length;
    return unescaped(match[1] as string).replaceAll(star, '*');
  }

  #quotedName(): string | undefined {
    const start = this.at;
    const text = this.quoted();
    const isName = this.peeks(':') && !this.isSpace(this.at + 1) && this.at + 1 < this.#text.length;
    this.at = isName ? this.at + 1 : start;
    return isName ? text : undefined;
  }

  /** Consumes a quoted text, which must be next. */
  quoted(): string {
    const start = this.at++;
    let text = '';
    for (; !this.peeks('"'); this.at++) {
      if (this.isDone) throw this.error('expected a closing quote for this one', start);
      if (this.peeks('\\') && /["\\]/.test(this.#text[this.at + 1] ?? '')) this.at++;
      text += this.#text[this.at];
    }
    this.at++;
    return text;
  }

  /**
   * Consumes an expression between slashes. It ends at the next unescaped slash before a space, a closing parenthesis
   * or the end; otherwise the text is a path. Ambiguous texts are rejected, because the meaning of a term must not
   * depend on what follows.
   */
  regex(): string | undefined {
    const end = this.#slashAtEnd();
    const source = this.#text.slice(this.at + 1, end);
    // A separate condition that begins with a slash ends there.
    if (end === undefined || source === '' || namedSlash.test(source)) return undefined;
    const isOneWord = !/\s/.test(source);
    if (/^(?:[^\\/]|\\.)*\//s.test(source) || !(isOneWord || (ofExpressions.test(source) && !named.test(source))))
      throw this.error(
        'this may be a path or a regular expression: quote the path, or write \\/ and \\s for slashes and spaces in the expression',
      );
    this.at = end + 1;
    return source.replaceAll('\\/', '/');
  }

  /** Returns the next unescaped slash that ends a word. */
  #slashAtEnd(): number | undefined {
    for (let at = this.at + 1; at < this.#text.length; at++) {
      if (this.#text[at] === '\\') at++;
      else if (this.#text[at] === '/' && this.#isEnd(at + 1)) return at;
    }
    return undefined;
  }

  #isEnd(at: number): boolean {
    return at >= this.#text.length || this.#text[at] === ')' || this.isSpace(at);
  }

  /** Consumes characters up to a space, or to an unmatched closing parenthesis. Unescaped asterisks become `star`. */
  bare(): string {
    const start = this.at;
    let depth = 0;
    for (; !this.isDone && !this.isSpace(this.at); this.at++) {
      if (this.peeks('\\') && this.at + 1 < this.#text.length && !this.isSpace(this.at + 1)) this.at++;
      else if (this.peeks('(')) depth++;
      else if (this.peeks(')') && depth-- === 0) break;
    }
    return unescaped(this.#text.slice(start, this.at));
  }

  /** Consumes characters up to a space or a closing bracket. */
  bound(): string {
    const start = this.at;
    while (!this.isDone && !this.isSpace(this.at) && !this.peeks(']') && !this.peeks('}'))
      this.at += this.peeks('\\') ? 2 : 1;
    this.at = Math.min(this.at, this.#text.length);
    return unescaped(this.#text.slice(start, this.at));
  }
}
