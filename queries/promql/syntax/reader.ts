import { PromqlSyntaxError } from './errors.ts';
import { described, type Token, wordsOf } from './lexer.ts';
import { syntaxLimits } from './limits.ts';
import type { Position } from './tree.ts';

/** PromQL features allowed beyond the stable language. */
export interface SyntaxOptions {
  readonly experimentalFunctions: boolean;
  readonly durationExpressions: boolean;
  readonly extendedRangeSelectors: boolean;
  readonly fillModifiers: boolean;
}

/** All features behind flags in Prometheus 3.15. */
export const everySyntax: SyntaxOptions = {
  experimentalFunctions: true,
  durationExpressions: true,
  extendedRangeSelectors: true,
  fillModifiers: true,
};

/** Context of an unexpected token in error messages: the part it is in, and the expected token. */
interface Scope {
  readonly context: string;
  readonly expected: string;
}

/** Reads the tokens of one expression and collects problems; Prometheus reports the first one. */
export class Reader {
  readonly text: string;
  readonly options: SyntaxOptions;
  readonly #tokens: readonly Token[];
  #at = 0;
  #scope: Scope = { context: '', expected: '' };
  #depth = 0;
  #parts = 0;
  #regexCost = 0;
  #first: PromqlSyntaxError | undefined;

  constructor(text: string, options: SyntaxOptions) {
    this.text = text;
    this.options = options;
    if (text.length > syntaxLimits.characters)
      throw this.#tooMuch({ start: 0, end: 0 }, `expression has more than ${syntaxLimits.characters} characters`);
    this.#tokens = wordsOf(text);
  }

  /** The next token, without consuming it. */
  get next(): Token {
    const token = this.ahead(0);
    if (token.kind === 'error') throw this.#first ?? new PromqlSyntaxError(this.text, token, token.name);
    return token;
  }

  /** Returns a token further ahead; the last one repeats. */
  ahead(distance: number): Token {
    return this.#tokens[Math.min(this.#at + distance, this.#tokens.length - 1)] as Token;
  }

  consume(): Token {
    const token = this.next;
    this.#at++;
    return token;
  }

  /** Consumes a punctuation mark, operator or keyword if it is next. */
  consumeIf(name: string): Token | undefined {
    return this.is(name) ? this.consume() : undefined;
  }

  is(name: string): boolean {
    const { kind, name: next } = this.next;
    return next === name && kind !== 'string' && kind !== 'identifier' && kind !== 'metric';
  }

  /** Consumes the required next token. */
  expect(name: string): Token {
    return this.consumeIf(name) ?? this.unexpected();
  }

  /** Parses with its own context for unexpected tokens. */
  within<T>(context: string, expected: string, read: () => T): T {
    const before = this.#scope;
    this.#scope = { context, expected };
    this.#depth++;
    if (this.#depth > syntaxLimits.depth) throw this.tooDeep();
    const result = read();
    this.#depth--;
    this.#scope = before;
    return result;
  }

  /** Parses with the same context, one level deeper. */
  deeper<T>(read: () => T): T {
    return this.within(this.#scope.context, this.#scope.expected, read);
  }

  /** Returns the error for exceeded nesting depth. */
  tooDeep(place: Position = this.next): PromqlSyntaxError {
    return this.#tooMuch(place, `expression is nested more than ${syntaxLimits.depth} levels deep`);
  }

  /** Counts a number, string, selector, call or operator. */
  countPart(place: Position): void {
    if (++this.#parts > syntaxLimits.parts)
      throw this.#tooMuch(place, `expression has more than ${syntaxLimits.parts} parts`);
  }

  /** Checks that a list may have another item. */
  countListItem(items: readonly unknown[], what: string, place: Position = this.next): void {
    if (items.length >= syntaxLimits.listed) throw this.#tooMuch(place, `more than ${syntaxLimits.listed} ${what}`);
  }

  /** Counts the cost of compiling a regular expression, before it is compiled. */
  countRegex(cost: number, place: Position): void {
    this.#regexCost += cost;
    if (this.#regexCost > syntaxLimits.regexCost)
      throw this.#tooMuch(place, 'error parsing regexp: expression too large');
  }

  #tooMuch(place: Position, problem: string): PromqlSyntaxError {
    return new PromqlSyntaxError(this.text, place, problem);
  }

  unexpected(context = this.#scope.context, expected = this.#scope.expected): never {
    const where = context === '' ? '' : ` in ${context}`;
    const expectation = expected === '' ? '' : `, expected ${expected}`;
    this.report(this.next, `unexpected ${described(this.next)}${where}${expectation}`);
    throw this.#first as PromqlSyntaxError;
  }

  /** Records a problem and continues. */
  report(place: Position, problem: string): void {
    this.#first ??= new PromqlSyntaxError(this.text, place, problem);
  }

  /** Throws the first reported problem, if any. */
  finish(): void {
    if (this.#first !== undefined) throw this.#first;
  }
}
