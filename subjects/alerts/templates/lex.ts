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
  let start = 0;
  while (blankPattern.test(text[start] ?? '')) start++;
  return text.slice(start);
};
const trimBlankEnd = (text: string): string => {
  let end = text.length;
  while (blankPattern.test(text[end - 1] ?? '')) end--;
  return text.slice(0, end);
};
const namePattern = /[\p{L}\p{Nd}_]/u;
const signs = [':=', '=', '|', '(', ')', ',', '.'];
const numberPattern = /[+-]?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)/y;
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
  #shouldTrimNextText = false;

  constructor(source: string) {
    this.#source = source;
  }

  run(): readonly Token[] {
    while (this.#position < this.#source.length) {
      const open = this.#source.indexOf('{{', this.#position);
      const textEnd = open < 0 ? this.#source.length : open;
      const trimsBefore =
        open >= 0 && this.#source[open + 2] === '-' && blankPattern.test(this.#source[open + 3] ?? '');
      this.#pushText(this.#source.slice(this.#position, textEnd), trimsBefore);
      this.#position = open < 0 ? textEnd : open + (trimsBefore ? 3 : 2);
      if (open >= 0 && !this.#readComment()) this.#readAction();
    }
    this.#push('end');
    return this.#tokens;
  }

  #push(kind: TokenKind, text = ''): void {
    this.#tokens.push({ kind, text });
  }

  #pushText(text: string, trimsEnd: boolean): void {
    const startTrimmed = this.#shouldTrimNextText ? trimBlankStart(text) : text;
    this.#shouldTrimNextText = false;
    const trimmed = trimsEnd ? trimBlankEnd(startTrimmed) : startTrimmed;
    if (trimmed !== '') this.#push('text', trimmed);
  }

  #readComment(): boolean {
    let start = this.#position;
    while (blankPattern.test(this.#source[start] ?? '')) start++;
    if (!this.#source.startsWith('/*', start)) return false;
    const end = this.#source.indexOf('*/', start + 2);
    if (end < 0) throw new TemplateError('a comment is not closed');
    this.#position = end + 2;
    if (!this.#readClose()) throw new TemplateError('a comment must be alone between {{ and }}');
    this.#tokens.pop();
    return true;
  }

  /** Consumes the end of an action at the current position. */
  #readClose(): boolean {
    const rest = this.#source;
    if (blankPattern.test(rest[this.#position] ?? '') && rest.startsWith('-}}', this.#position + 1)) {
      this.#shouldTrimNextText = true;
      this.#position += 4;
    } else if (rest.startsWith('}}', this.#position)) this.#position += 2;
    else return false;
    this.#push('close');
    return true;
  }

  #readAction(): void {
    this.#push('open');
    while (!this.#readClose()) {
      if (this.#position >= this.#source.length) throw new TemplateError('{{ has no }}');
      this.#readToken();
    }
  }

  #readToken(): void {
    const first = this.#source[this.#position] ?? '';
    if (blankPattern.test(first)) this.#readSpace();
    else if (first === '"') this.#readQuotedString();
    else if (first === '`') this.#readRawString();
    else if (!this.#readNumber()) this.#readNameOrSign(first);
  }

  #readNameOrSign(first: string): void {
    if (first === '$') this.#readName('variable', first);
    else if (first === '.' && namePattern.test(this.#source[this.#position + 1] ?? '')) this.#readName('field', first);
    else if (namePattern.test(first)) this.#readName('word', '');
    else this.#readSign(first);
  }

  #readSign(first: string): void {
    const sign = signs.find((value) => this.#source.startsWith(value, this.#position));
    if (sign === undefined) throw new TemplateError(`${JSON.stringify(first)} is unexpected`);
    this.#position += sign.length;
    this.#push('sign', sign);
  }

  #readSpace(): void {
    const start = this.#position;
    while (blankPattern.test(this.#source[this.#position] ?? '')) {
      if (this.#position > start && this.#source.startsWith('-}}', this.#position + 1)) break;
      this.#position++;
    }
    this.#push('space');
  }

  #readName(kind: 'variable' | 'field' | 'word', prefix: string): void {
    const start = this.#position + prefix.length;
    this.#position = start;
    while (namePattern.test(this.#source[this.#position] ?? '')) this.#position++;
    this.#push(kind, (kind === 'variable' ? prefix : '') + this.#source.slice(start, this.#position));
  }

  #readNumber(): boolean {
    numberPattern.lastIndex = this.#position;
    const text = numberPattern.exec(this.#source)?.[0];
    if (text === undefined) return false;
    this.#position += text.length;
    if (namePattern.test(this.#source[this.#position] ?? '')) throw new TemplateError(`${text} is not a number`);
    this.#push(/^[+-]?(?:\d+|0[xX].*)$/.test(text) ? 'int' : 'float', text);
    return true;
  }

  #readRawString(): void {
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
      text += character === '\\' ? this.#readEscape() : character;
    }
    this.#position++;
    this.#push('string', text);
  }

  #readEscape(): string {
    const kind = this.#source[++this.#position] ?? '';
    const simpleEscape = Object.hasOwn(escapes, kind) ? escapes[kind] : undefined;
    if (simpleEscape !== undefined) return simpleEscape;
    const digits = { x: 2, u: 4, U: 8 }[kind];
    const code = digits === undefined ? '' : this.#source.slice(this.#position + 1, this.#position + 1 + digits);
    const codePoint = Number.parseInt(code, 16);
    if (digits === undefined || !/^[0-9a-fA-F]+$/.test(code) || code.length < digits || codePoint > 0x10_ff_ff)
      throw new TemplateError(`\\${kind} is not a valid escape in a string`);
    this.#position += digits;
    return String.fromCodePoint(codePoint);
  }
}

/** Splits a template into tokens. Throws `TemplateError` for an invalid template. */
export const tokenize = (source: string): readonly Token[] => new Lexer(source).run();
