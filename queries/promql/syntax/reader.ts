import { PromqlSyntaxError } from './errors.ts';
import { described, type Token, wordsOf } from './lexer.ts';
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

/** Deeper expressions are refused: nobody writes them, and evaluating them would take the stack. */
const deepest = 500;

/** Reads the words of one expression, and keeps what is wrong with it; the first of that is what Prometheus reports. */
export class Reader {
  readonly text: string;
  readonly options: SyntaxOptions;
  readonly #tokens: readonly Token[];
  #at = 0;
  #scope: Scope = { context: '', expected: '' };
  #depth = 0;
  #first: PromqlSyntaxError | undefined;

  constructor(text: string, options: SyntaxOptions) {
    this.text = text;
    this.options = options;
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

  take(): Token {
    const token = this.next;
    this.#at++;
    return token;
  }

  /** Takes a mark, operator or word of the language if it is the next one. */
  takeIf(name: string): Token | undefined {
    return this.is(name) ? this.take() : undefined;
  }

  is(name: string): boolean {
    const { kind, name: next } = this.next;
    return next === name && kind !== 'string' && kind !== 'identifier' && kind !== 'metric';
  }

  /** Takes what must come next. */
  expect(name: string): Token {
    return this.takeIf(name) ?? this.unexpected();
  }

  /** Reads with a scope of its own for words that do not fit. */
  within<T>(context: string, expected: string, read: () => T): T {
    const before = this.#scope;
    this.#scope = { context, expected };
    this.#depth++;
    if (this.#depth > deepest) throw new PromqlSyntaxError(this.text, this.next, 'expression is nested too deeply');
    const result = read();
    this.#depth--;
    this.#scope = before;
    return result;
  }

  /** The same scope, one level deeper. */
  deeper<T>(read: () => T): T {
    return this.within(this.#scope.context, this.#scope.expected, read);
  }

  unexpected(context = this.#scope.context, expected = this.#scope.expected): never {
    const where = context === '' ? '' : ` in ${context}`;
    const wanted = expected === '' ? '' : `, expected ${expected}`;
    this.report(this.next, `unexpected ${described(this.next)}${where}${wanted}`);
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
