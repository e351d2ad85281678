import { PromqlSyntaxError } from './errors.ts';
import { described, type Token, wordsOf } from './lexer.ts';
import { syntaxLimits } from './limits.ts';
import type { Place } from './tree.ts';

/** What of PromQL is allowed beyond the stable language. */
export interface SyntaxOptions {
  readonly experimentalFunctions: boolean;
  readonly durationExpressions: boolean;
  readonly extendedRangeSelectors: boolean;
  readonly fillModifiers: boolean;
}

/** Everything that Prometheus 3.15 knows behind its feature flags. */
export const everySyntax: SyntaxOptions = {
  experimentalFunctions: true,
  durationExpressions: true,
  extendedRangeSelectors: true,
  fillModifiers: true,
};

/** Where a word that does not fit is reported: in what, and what would have fitted. */
interface Scope {
  readonly context: string;
  readonly expected: string;
}

/** Reads the words of one expression, and keeps what is wrong with it; the first of that is what Prometheus reports. */
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

  /** The next word, which stays. */
  get next(): Token {
    const token = this.ahead(0);
    if (token.kind === 'error') throw this.#first ?? new PromqlSyntaxError(this.text, token, token.name);
    return token;
  }

  /** A word further on; the last one stands for all behind it. */
  ahead(distance: number): Token {
    return this.#tokens[Math.min(this.#at + distance, this.#tokens.length - 1)] as Token;
  }

  consume(): Token {
    const token = this.next;
    this.#at++;
    return token;
  }

  /** Takes a mark, operator or word of the language if it is the next one. */
  consumeIf(name: string): Token | undefined {
    return this.is(name) ? this.consume() : undefined;
  }

  is(name: string): boolean {
    const { kind, name: next } = this.next;
    return next === name && kind !== 'string' && kind !== 'identifier' && kind !== 'metric';
  }

  /** Takes what must come next. */
  expect(name: string): Token {
    return this.consumeIf(name) ?? this.unexpected();
  }

  /** Reads with a scope of its own for words that do not fit. */
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

  /** The same scope, one level deeper. */
  deeper<T>(read: () => T): T {
    return this.within(this.#scope.context, this.#scope.expected, read);
  }

  /** What is read goes deeper than it may. */
  tooDeep(place: Place = this.next): PromqlSyntaxError {
    return this.#tooMuch(place, `expression is nested more than ${syntaxLimits.depth} levels deep`);
  }

  /** Counts a number, text, selector, call or operator. */
  countPart(place: Place): void {
    if (++this.#parts > syntaxLimits.parts)
      throw this.#tooMuch(place, `expression has more than ${syntaxLimits.parts} parts`);
  }

  /** Holds one more item of a list to how many there may be. */
  countListed(items: readonly unknown[], what: string, place: Place = this.next): void {
    if (items.length >= syntaxLimits.listed) throw this.#tooMuch(place, `more than ${syntaxLimits.listed} ${what}`);
  }

  /** Counts what compiling a regular expression costs, before it is compiled. */
  countRegex(cost: number, place: Place): void {
    this.#regexCost += cost;
    if (this.#regexCost > syntaxLimits.regexCost)
      throw this.#tooMuch(place, 'error parsing regexp: expression too large');
  }

  #tooMuch(place: Place, problem: string): PromqlSyntaxError {
    return new PromqlSyntaxError(this.text, place, problem);
  }

  unexpected(context = this.#scope.context, expected = this.#scope.expected): never {
    const where = context === '' ? '' : ` in ${context}`;
    const expectation = expected === '' ? '' : `, expected ${expected}`;
    this.report(this.next, `unexpected ${described(this.next)}${where}${expectation}`);
    throw this.#first as PromqlSyntaxError;
  }

  /** Keeps a problem and reads on. */
  report(place: Place, problem: string): void {
    this.#first ??= new PromqlSyntaxError(this.text, place, problem);
  }

  /** Throws the first problem that was reported, if any was. */
  finish(): void {
    if (this.#first !== undefined) throw this.#first;
  }
}
