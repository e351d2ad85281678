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

const blankPattern = /[ \t\r\n]/;
/** Removes leading blanks. Go does not trim other whitespace. */
const trimBlankStart = (text: string): string => {
  let from = 0;
  while (blankPattern.test(text[from] ?? '')) from++;
  return text.slice(from);
};
const trimBlankEnd = (text: string): string => {
  let to = text.length;
  while (blankPattern.test(text[to - 1] ?? '')) to--;
  return text.slice(0, to);
};
const namePattern = /[\p{L}\p{Nd}_]/u;
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
  #position = 0;
  /** Whether the previous action trims the following blanks. */
  #trimsNextText = false;

  constructor(source: string) {
    this.#source = source;
  }

  run(): readonly Token[] {
    while (this.#position < this.#source.length) {
      const open = this.#source.indexOf('{{', this.#position);
      const textEnd = open < 0 ? this.#source.length : open;
      const trimsBefore =
        open >= 0 && this.#source[open + 2] === '-' && blankPattern.test(this.#source[open + 3] ?? '');
      this.#text(this.#source.slice(this.#position, textEnd), trimsBefore);
      this.#position = open < 0 ? textEnd : open + (trimsBefore ? 3 : 2);
      if (open >= 0 && !this.#comment()) this.#action();
    }
    this.#push('end');
    return this.#tokens;
  }

  #push(kind: TokenKind, text = ''): void {
    this.#tokens.push({ kind, text });
  }

  #text(text: string, trimsEnd: boolean): void {
    const startTrimmed = this.#trimsNextText ? trimBlankStart(text) : text;
    this.#trimsNextText = false;
    const trimmed = trimsEnd ? trimBlankEnd(startTrimmed) : startTrimmed;
    if (trimmed !== '') this.#push('text', trimmed);
  }

  #comment(): boolean {
    let from = this.#position;
    while (blankPattern.test(this.#source[from] ?? '')) from++;
    if (!this.#source.startsWith('/*', from)) return false;
    const end = this.#source.indexOf('*/', from + 2);
    if (end < 0) throw new TemplateError('a comment is not closed');
    this.#position = end + 2;
    if (!this.#close()) throw new TemplateError('a comment must be alone between {{ and }}');
    this.#tokens.pop();
    return true;
  }

  /** Consumes the end of an action at the current position. */
  #close(): boolean {
    const rest = this.#source;
    if (blankPattern.test(rest[this.#position] ?? '') && rest.startsWith('-}}', this.#position + 1)) {
      this.#trimsNextText = true;
      this.#position += 4;
    } else if (rest.startsWith('}}', this.#position)) this.#position += 2;
    else return false;
    this.#push('close');
    return true;
  }

  #action(): void {
    this.#push('open');
    while (!this.#close()) {
      if (this.#position >= this.#source.length) throw new TemplateError('{{ has no }}');
      this.#readToken();
    }
  }

  #readToken(): void {
    const first = this.#source[this.#position] ?? '';
    if (blankPattern.test(first)) this.#space();
    else if (first === '"') this.#readQuotedString();
    else if (first === '`') this.#raw();
    else if (!this.#number()) this.#nameOrSign(first);
  }

  #nameOrSign(first: string): void {
    if (first === '$') this.#readName('variable', first);
    else if (first === '.' && namePattern.test(this.#source[this.#position + 1] ?? '')) this.#readName('field', first);
    else if (namePattern.test(first)) this.#readName('word', '');
    else this.#sign(first);
  }

  #sign(first: string): void {
    const sign = signs.find((each) => this.#source.startsWith(each, this.#position));
    if (sign === undefined) throw new TemplateError(`${JSON.stringify(first)} is unexpected`);
    this.#position += sign.length;
    this.#push('sign', sign);
  }

  #space(): void {
    const from = this.#position;
    while (blankPattern.test(this.#source[this.#position] ?? '')) {
      if (this.#position > from && this.#source.startsWith('-}}', this.#position + 1)) break;
      this.#position++;
    }
    this.#push('space');
  }

  #readName(kind: 'variable' | 'field' | 'word', prefix: string): void {
    const from = this.#position + prefix.length;
    this.#position = from;
    while (namePattern.test(this.#source[this.#position] ?? '')) this.#position++;
    this.#push(kind, (kind === 'variable' ? prefix : '') + this.#source.slice(from, this.#position));
  }

  #number(): boolean {
    number.lastIndex = this.#position;
    const text = number.exec(this.#source)?.[0];
    if (text === undefined) return false;
    this.#position += text.length;
    if (namePattern.test(this.#source[this.#position] ?? '')) throw new TemplateError(`${text} is not a number`);
    this.#push(/^[+-]?(?:\d+|0[xX].*)$/.test(text) ? 'int' : 'float', text);
    return true;
  }

  #raw(): void {
    const end = this.#source.indexOf('`', this.#position + 1);
    if (end < 0) throw new TemplateError('a string in ` is not closed');
    this.#push('string', this.#source.slice(this.#position + 1, end));
    this.#position = end + 1;
  }

  #readQuotedString(): void {
    let text = '';
    for (this.#position++; this.#source[this.#position] !== '"'; this.#position++) {
      const character = this.#source[this.#position];
      if (character === undefined || character === '\n') throw new TemplateError('a string in " is not closed');
      text += character === '\\' ? this.#escaped() : character;
    }
    this.#position++;
    this.#push('string', text);
  }

  #escaped(): string {
    const kind = this.#source[++this.#position] ?? '';
    const simple = Object.hasOwn(escapes, kind) ? escapes[kind] : undefined;
    if (simple !== undefined) return simple;
    const digits = { x: 2, u: 4, U: 8 }[kind];
    const code = digits === undefined ? '' : this.#source.slice(this.#position + 1, this.#position + 1 + digits);
    const point = Number.parseInt(code, 16);
    if (digits === undefined || !/^[0-9a-fA-F]+$/.test(code) || code.length < digits || point > 0x10_ff_ff)
      throw new TemplateError(`\\${kind} is not a valid escape in a string`);
    this.#position += digits;
    return String.fromCodePoint(point);
  }
}

/** Splits a template into tokens. Throws `TemplateError` for an invalid template. */
export const lex = (source: string): readonly Token[] => new Lexer(source).run();
