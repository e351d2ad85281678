import { syntaxLimits } from './limits.ts';
import { quoteText } from './quotes.ts';

/** Kinds of tokens; a `mark` is a punctuation mark. */
export type TokenKind =
  | 'end'
  | 'error'
  | 'identifier'
  | 'metric'
  | 'number'
  | 'duration'
  | 'string'
  | 'operator'
  | 'aggregator'
  | 'keyword'
  | 'preprocessor'
  | 'mark';

/** A token of an expression. Keywords have their name in lower case, punctuation its text. */
export interface Token {
  readonly kind: TokenKind;
  readonly name: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const kinds: readonly (readonly [TokenKind, string])[] = [
  ['operator', 'and or unless atan2'],
  ['aggregator', 'sum avg count min max group stddev stdvar topk bottomk count_values quantile limitk limit_ratio'],
  ['keyword', 'offset smoothed anchored by without on ignoring group_left group_right fill fill_left fill_right bool'],
  ['preprocessor', 'start end step range max_of min_of'],
  ['number', 'inf nan'],
];
/** Aggregation operators, such as `sum`. */
export const aggregators: readonly string[] = kinds
  .filter(([kind]) => kind === 'aggregator')
  .flatMap(([, names]) => names.split(' '));
const keywordKinds = new Map(kinds.flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind] as const)));

const isSpace = (character: string): boolean => /^[ \t\n\r]$/.test(character);
const isLetter = (character: string): boolean => /^[A-Za-z_]$/.test(character);
const isDigit = (character: string): boolean => /^\d$/.test(character);
const quoteCharacter = (character: string): string =>
  character === '' ? quoteText('\ufffd', "'") : quoteText(character, "'");

class LexicalError extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Scans tokens from left to right. The last one is the end of the input or an error. */
class Lexer {
  readonly tokens: Token[] = [];
  readonly #input: string;
  #position = 0;
  #start = 0;
  #parentheses = 0;
  #isInBraces = false;
  #isInBrackets = false;
  #hasColon = false;
  #hasDuration = false;
  /** Whether a duration in brackets follows, whose first tokens have special rules. */
  #isAtDuration = false;

  constructor(input: string) {
    this.#input = input;
  }

  run(): Token[] {
    try {
      while (this.tokens.at(-1)?.kind !== 'end') this.#scanToken();
    } catch (error) {
      if (!(error instanceof LexicalError)) throw error;
      this.tokens.push({ kind: 'error', name: error.message, text: '', start: error.offset, end: this.#input.length });
    }
    return this.tokens;
  }

  #fail(message: string): never {
    throw new LexicalError(message, this.#start);
  }

  #next(): string {
    const point = this.#input.codePointAt(this.#position);
    if (point === undefined) return '';
    const character = String.fromCodePoint(point);
    this.#position += character.length;
    return character;
  }

  #peek(): string {
    const point = this.#input.codePointAt(this.#position);
    return point === undefined ? '' : String.fromCodePoint(point);
  }

  #emit(kind: TokenKind, name?: string): void {
    const text = this.#input.slice(this.#start, this.#position);
    this.tokens.push({ kind, name: name ?? text, text, start: this.#start, end: this.#position });
    this.#start = this.#position;
  }

  #skipSpace(): void {
    while (isSpace(this.#peek())) this.#position++;
    this.#start = this.#position;
  }

  #scanToken(): void {
    this.#skipSpace();
    if (this.#isAtDuration) {
      this.#isAtDuration = this.#scanDurationToken();
      return;
    }
    if (this.#input[this.#position] === '#') {
      while (this.#position < this.#input.length && !/[\r\n]/.test(this.#peek())) this.#position++;
      this.#start = this.#position;
      return;
    }
    if (this.#isInBraces) this.#scanBraceToken();
    else this.#scanStatementToken();
  }

  #scanEnd(): void {
    if (this.#parentheses !== 0) this.#fail('unclosed left parenthesis');
    if (this.#isInBrackets) this.#fail('unclosed left bracket');
    this.#emit('end');
  }

  #scanStatementToken(): void {
    const first = this.#next();
    if (first === '') this.#scanEnd();
    else if ('*/%+-^@'.includes(first)) this.#emit('operator');
    else if (first === ',') this.#emit('mark');
    else if ('=!<>'.includes(first)) this.#scanComparison(first);
    else if (isDigit(first) || (first === '.' && isDigit(this.#peek()))) this.#scanNumber(first);
    else if (`"'\``.includes(first)) this.#scanString(first);
    else if (isLetter(first) || first === ':') this.#scanWord(first);
    else this.#scanParenthesis(first);
  }

  #scanComparison(first: string): void {
    const next = this.#peek();
    if (first === '=' && next === '~') this.#fail(`unexpected character after '=': ${quoteCharacter(next)}`);
    if (first === '!' && next !== '=') {
      this.#next();
      this.#fail(`unexpected character after '!': ${quoteCharacter(next)}`);
    }
    if (next === '=' || (next === '/' && (first === '<' || first === '>'))) this.#next();
    this.#emit(first === '=' && next !== '=' ? 'mark' : 'operator');
  }

  #scanParenthesis(first: string): void {
    switch (first) {
      case '(':
        this.#emit('mark');
        this.#parentheses++;
        return;
      case ')':
        this.#closeParenthesis();
        return;
      case '{':
        this.#emit('mark');
        this.#isInBraces = true;
        return;
      case '[':
        if (this.#isInBrackets) this.#fail(`unexpected left bracket ${quoteCharacter(first)}`);
        this.#hasColon = false;
        this.#emit('mark');
        this.#isInBrackets = true;
        this.#isAtDuration = true;
        return;
      case ']':
        if (!this.#isInBrackets) this.#fail(`unexpected right bracket ${quoteCharacter(first)}`);
        this.#emit('mark');
        this.#isInBrackets = false;
        return;
      default:
        this.#fail(`unexpected character: ${quoteCharacter(first)}`);
    }
  }

  #closeParenthesis(): void {
    this.#parentheses--;
    if (this.#parentheses < 0) {
      this.#start = this.#position;
      this.#fail("unexpected right parenthesis ')'");
    }
    this.#emit('mark');
  }

  #scanWord(first: string): void {
    if (this.#isInBrackets) {
      this.#scanWordInBrackets(first);
      return;
    }
    while (isLetter(this.#peek()) || isDigit(this.#peek()) || this.#peek() === ':') this.#position++;
    const text = this.#input.slice(this.#start, this.#position);
    const name = text.toLowerCase();
    const kind = keywordKinds.get(name);
    if (kind === undefined) {
      this.#emit(text.includes(':') ? 'metric' : 'identifier');
      return;
    }
    // `fill` is a metric name unless it is called, so that queries older than the modifier retain their meaning.
    if (/^fill/.test(name) && !/^[ \t\n\r]*\(/.test(this.#input.slice(this.#position))) this.#emit('identifier');
    else this.#emit(kind, name);
  }

  #scanWordInBrackets(first: string): void {
    if (first === ':') {
      if (this.#hasColon) this.#fail("unexpected colon ':'");
      this.#emit('mark');
      this.#hasColon = true;
      return;
    }
    if (!this.#scanDurationName(first)) this.#fail(`unexpected character: ${quoteCharacter(first)}, expected ':'`);
  }

  /** Scans a function of durations; returns false if the word is not one. */
  #scanDurationName(first: string): boolean {
    if (!/[srm]/i.test(first)) return false;
    while (isLetter(this.#peek())) this.#position++;
    const name = this.#input.slice(this.#start, this.#position).toLowerCase();
    if (!['step', 'range', 'max_of', 'min_of'].includes(name)) return false;
    this.#emit('preprocessor', name);
    return true;
  }

  /** Returns whether the next token is also part of a duration. */
  #scanDurationToken(): boolean {
    const first = this.#next();
    if (first === '') this.#fail('unexpected end of input in duration expression');
    if (isDigit(first) || (first === '.' && isDigit(this.#peek()))) {
      this.#hasDuration = true;
      this.#scanNumber(first);
      return false;
    }
    if ('+-*/%^'.includes(first)) this.#emit('operator');
    else if (!this.#scanDurationName(first)) return this.#scanDurationMark(first);
    return true;
  }

  #scanDurationMark(first: string): boolean {
    switch (first) {
      case ']':
        this.#emit('mark');
        this.#isInBrackets = false;
        this.#hasColon = false;
        return false;
      case ':':
        if (!this.#hasDuration || this.#hasColon) this.#start = this.#position;
        if (!this.#hasDuration) this.#fail('unexpected colon before duration in duration expression');
        if (this.#hasColon) this.#fail('unexpected repeated colon in duration expression');
        this.#emit('mark');
        this.#hasColon = true;
        return true;
      case '(':
        this.#emit('mark');
        this.#parentheses++;
        return true;
      case ')':
        this.#closeParenthesis();
        return true;
      case ',':
        this.#emit('mark');
        return true;
      default:
        this.#fail(`unexpected character in duration expression: ${quoteCharacter(first)}`);
    }
  }

  #scanIdentifier(): void {
    while (isLetter(this.#peek()) || isDigit(this.#peek())) this.#position++;
    this.#emit('identifier');
  }

  #scanBraceToken(): void {
    const first = this.#next();
    if (first === '') this.#fail('unexpected end of input inside braces');
    if (isLetter(first)) this.#scanIdentifier();
    else if (`"'\``.includes(first)) this.#scanString(first);
    else if (first === '=' || first === '!') this.#scanMatcherOperator(first);
    else if (first === ',') this.#emit('mark');
    else if (first === '}') {
      this.#emit('mark');
      this.#isInBraces = false;
    } else if (first === '{') this.#fail("unexpected left brace '{'");
    else this.#fail(`unexpected character inside braces: ${quoteCharacter(first)}`);
  }

  #scanMatcherOperator(first: string): void {
    const next = this.#peek();
    if (next === '~' || (first === '!' && next === '=')) {
      this.#next();
      this.#emit('operator');
    } else if (first === '=') this.#emit('mark');
    else this.#fail(`unexpected character after '!' inside braces: ${quoteCharacter(next)}`);
  }

  #scanString(quote: string): void {
    const raw = quote === '`';
    for (;;) {
      const next = this.#next();
      if (next === quote) break;
      if (next === '' || (next === '\n' && !raw))
        this.#fail(raw ? 'unterminated raw string' : 'unterminated quoted string');
      if (next === '\\' && !raw) this.#scanEscape(quote);
    }
    this.#emit('string');
  }

  #scanEscape(quote: string): void {
    const first = this.#next();
    if (first === '') this.#fail('escape sequence not terminated');
    if ('abfnrtv\\'.includes(first) || first === quote) return;
    const isOctal = /^[0-7]$/.test(first);
    const digitCount = isOctal ? 3 : ({ x: 2, u: 4, U: 8 }[first] ?? 0);
    if (digitCount === 0) this.#fail(`unknown escape sequence ${describeCharacter(first)}`);
    const code = this.#scanDigits(isOctal ? first : '', digitCount, isOctal);
    if (code > (digitCount < 4 ? 255 : 0x10ffff) || (code >= 0xd800 && code < 0xe000))
      this.#fail('escape sequence is an invalid Unicode code point');
  }

  #scanDigits(first: string, digitCount: number, isOctal: boolean): number {
    let digits = first;
    while (digits.length < digitCount) {
      const next = this.#next();
      if (next === '') this.#fail('escape sequence not terminated');
      if (!(isOctal ? /^[0-7]$/ : /^[\da-f]$/i).test(next))
        this.#fail(`illegal character ${describeCharacter(next)} in escape sequence`);
      digits += next;
    }
    return Number.parseInt(digits, isOctal ? 8 : 16);
  }

  #scanNumber(first: string): void {
    this.#position -= first.length;
    const maxCharacters = syntaxLimits.maxNumberCharacters;
    // Limits the input of the regular expressions below, so that none of them takes long.
    const rest = this.#input.slice(this.#position, this.#position + maxCharacters + 2);
    const number =
      /^(?:0[xX]_?[\da-fA-F]+(?:_[\da-fA-F]+)*|(?:\d+(?:_\d+)*)?\.?(?:\d+(?:_\d+)*)?(?:[eE][+-]?\d+(?:_\d+)*)?)/.exec(
        rest,
      );
    const length = number?.[0].length ?? 0;
    if (length > maxCharacters || (/^[\w.]*/.exec(rest)?.[0].length ?? 0) > maxCharacters)
      this.#fail(`number or duration has more than ${maxCharacters} characters`);
    if (length > 0 && !/^[\w.]/.test(rest.slice(length)) && !/^0[xX]$/.test(rest.slice(0, length))) {
      this.#position += length;
      this.#emit('number');
      return;
    }
    const duration = /^\d+(?:[smhdwy]s?)(?:\d+[smhdw]s?)*/.exec(rest)?.[0].length ?? 0;
    if (duration > 0 && !/^\w/.test(rest.slice(duration))) {
      this.#position += duration;
      this.#emit('duration');
      return;
    }
    // The text that Prometheus reads before it rejects the number.
    const invalidText =
      /^\d+[smhdwy]s?(?:\d+[smhdw]s?)*\w?|^\d+(?:\.\d*)?\.|^\d*(?:\.\d*)?(?:[smhdwy]\w?|\w)?/.exec(rest)?.[0] ?? '';
    this.#position += invalidText.length;
    this.#fail(`bad number or duration syntax: ${quoteText(invalidText)}`);
  }
}

const describeCharacter = (character: string): string => {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return /[\p{C}\p{Z}]/u.test(character) ? `U+${code}` : `U+${code} '${character}'`;
};

/** Returns the tokens of an expression. The last one is the end, or an error with its message as name. */
export const tokenize = (input: string): Token[] => new Lexer(input).run();

/** Formats a token for messages as Prometheus does. */
export const describeToken = (token: Token): string => {
  switch (token.kind) {
    case 'end':
      return 'end of input';
    case 'identifier':
      return `identifier ${quoteText(token.text)}`;
    case 'metric':
      return `metric identifier ${quoteText(token.text)}`;
    case 'number':
    case 'duration':
    case 'string':
      return `${token.kind} ${shorten(token.text)}`;
    case 'operator':
      return `<op:${token.text}>`;
    case 'aggregator':
      return `<aggr:${token.text}>`;
    case 'keyword':
      return `<${token.text}>`;
    default:
      return shorten(token.text);
  }
};

const shorten = (text: string): string => {
  const characters = [...text];
  return Buffer.byteLength(text) > 10 ? `${quoteText(characters.slice(0, 10).join(''))}...` : quoteText(text);
};
