/** Lexer for Go templates, in one pass over the characters. */
import { TemplateError } from './errors.ts';

export type TokenKind =
  | 'text'
  | 'open'
  | 'close'
  | 'space'
  | 'word'
  | 'field'
  | 'variable'
  | 'string'
  | 'int'
  | 'float'
  | 'sign'
  | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** Content of the token: a text without quotes, a field without its dot, a variable without its dollar sign. */
  readonly text: string;
}

const blank = /[ \t\r\n]/;
/** Removes leading blanks. Go does not trim other whitespace. */
const trimmedStart = (text: string): string => {
  let from = 0;
  while (blank.test(text[from] ?? '')) from++;
  return text.slice(from);
};
const trimmedEnd = (text: string): string => {
  let to = text.length;
  while (blank.test(text[to - 1] ?? '')) to--;
  return text.slice(0, to);
};
const inName = /[\p{L}\p{Nd}_]/u;
const signs = [':=', '=', '|', '(', ')', ',', '.'];
const number = /[+-]?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)/y;
const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
};

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  /** Whether the previous action trims the following blanks. */
  #trims = false;

  constructor(source: string) {
    this.#source = source;
  }

  run(): readonly Token[] {
    while (this.#at < this.#source.length) {
      const open = this.#source.indexOf('{{', this.#at);
      const stop = open < 0 ? this.#source.length : open;
      const trimsBefore = open >= 0 && this.#source[open + 2] === '-' && blank.test(this.#source[open + 3] ?? '');
      this.#text(this.#source.slice(this.#at, stop), trimsBefore);
      this.#at = open < 0 ? stop : open + (trimsBefore ? 3 : 2);
      if (open >= 0 && !this.#comment()) this.#action();
    }
    this.#push('end');
    return this.#tokens;
  }

  #push(kind: TokenKind, text = ''): void {
    this.#tokens.push({ kind, text });
  }

  #text(text: string, trimsEnd: boolean): void {
    const begun = this.#trims ? trimmedStart(text) : text;
    this.#trims = false;
    const trimmed = trimsEnd ? trimmedEnd(begun) : begun;
    if (trimmed !== '') this.#push('text', trimmed);
  }

  #comment(): boolean {
    let from = this.#at;
    while (blank.test(this.#source[from] ?? '')) from++;
    if (!this.#source.startsWith('/*', from)) return false;
    const end = this.#source.indexOf('*/', from + 2);
    if (end < 0) throw new TemplateError('a comment is not closed');
    this.#at = end + 2;
    if (!this.#close()) throw new TemplateError('a comment must be alone between {{ and }}');
    this.#tokens.pop();
    return true;
  }

  /** Consumes the end of an action at the current position. */
  #close(): boolean {
    const rest = this.#source;
    if (blank.test(rest[this.#at] ?? '') && rest.startsWith('-}}', this.#at + 1)) {
      this.#trims = true;
      this.#at += 4;
    } else if (rest.startsWith('}}', this.#at)) this.#at += 2;
    else return false;
    this.#push('close');
    return true;
  }

  #action(): void {
    this.#push('open');
    while (!this.#close()) {
      if (this.#at >= this.#source.length) throw new TemplateError('{{ has no }}');
      this.#word();
    }
  }

  #word(): void {
    const first = this.#source[this.#at] ?? '';
    if (blank.test(first)) this.#space();
    else if (first === '"') this.#quoted();
    else if (first === '`') this.#raw();
    else if (!this.#number()) this.#nameOrSign(first);
  }

  #nameOrSign(first: string): void {
    if (first === '$') this.#named('variable', first);
    else if (first === '.' && inName.test(this.#source[this.#at + 1] ?? '')) this.#named('field', first);
    else if (inName.test(first)) this.#named('word', '');
    else this.#sign(first);
  }

  #sign(first: string): void {
    const sign = signs.find((each) => this.#source.startsWith(each, this.#at));
    if (sign === undefined) throw new TemplateError(`${JSON.stringify(first)} is unexpected`);
    this.#at += sign.length;
    this.#push('sign', sign);
  }

  #space(): void {
    const from = this.#at;
    while (blank.test(this.#source[this.#at] ?? '')) {
      if (this.#at > from && this.#source.startsWith('-}}', this.#at + 1)) break;
      this.#at++;
    }
    this.#push('space');
  }

  #named(kind: 'variable' | 'field' | 'word', prefix: string): void {
    const from = this.#at + prefix.length;
    this.#at = from;
    while (inName.test(this.#source[this.#at] ?? '')) this.#at++;
    this.#push(kind, (kind === 'variable' ? prefix : '') + this.#source.slice(from, this.#at));
  }

  #number(): boolean {
    number.lastIndex = this.#at;
    const text = number.exec(this.#source)?.[0];
    if (text === undefined) return false;
    this.#at += text.length;
    if (inName.test(this.#source[this.#at] ?? '')) throw new TemplateError(`${text} is not a number`);
    this.#push(/^[+-]?(?:\d+|0[xX].*)$/.test(text) ? 'int' : 'float', text);
    return true;
  }

  #raw(): void {
    const end = this.#source.indexOf('`', this.#at + 1);
    if (end < 0) throw new TemplateError('a string in ` is not closed');
    this.#push('string', this.#source.slice(this.#at + 1, end));
    this.#at = end + 1;
  }

  #quoted(): void {
    let text = '';
    for (this.#at++; this.#source[this.#at] !== '"'; this.#at++) {
      const character = this.#source[this.#at];
      if (character === undefined || character === '\n') throw new TemplateError('a string in " is not closed');
      text += character === '\\' ? this.#escaped() : character;
    }
    this.#at++;
    this.#push('string', text);
  }

  #escaped(): string {
    const kind = this.#source[++this.#at] ?? '';
    const simple = Object.hasOwn(escapes, kind) ? escapes[kind] : undefined;
    if (simple !== undefined) return simple;
    const digits = { x: 2, u: 4, U: 8 }[kind];
    const code = digits === undefined ? '' : this.#source.slice(this.#at + 1, this.#at + 1 + digits);
    const point = Number.parseInt(code, 16);
    if (digits === undefined || !/^[0-9a-fA-F]+$/.test(code) || code.length < digits || point > 0x10_ff_ff)
      throw new TemplateError(`\\${kind} is not a valid escape in a string`);
    this.#at += digits;
    return String.fromCodePoint(point);
  }
}

/** Splits a template into tokens. Throws `TemplateError` for an invalid template. */
export const lex = (source: string): readonly Token[] => new Lexer(source).run();
