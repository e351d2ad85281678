import { PromqlSyntaxError } from './errors.ts';
import { describeToken, type Token, tokenize } from './lexer.ts';
import { syntaxLimits } from './limits.ts';
import type { Position } from './tree.ts';

/** PromQL features that are enabled in addition to the stable language. */
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
interface ErrorContext {
  readonly context: string;
  readonly expected: string;
}

/** Reads the tokens of one expression and collects problems; Prometheus reports the first one. */
export class TokenReader {
  readonly text: string;
  readonly options: SyntaxOptions;
  readonly #tokens: readonly Token[];
  #position = 0;
  #errorContext: ErrorContext = { context: '', expected: '' };
  #depth = 0;
  #partCount = 0;
  #regexCost = 0;
  #firstError: PromqlSyntaxError | undefined;

  constructor(text: string, options: SyntaxOptions) {
    this.text = text;
    this.options = options;
    if (text.length > syntaxLimits.maxCharacters)
      throw this.#createLimitError(
        { start: 0, end: 0 },
        `expression has more than ${syntaxLimits.maxCharacters} characters`,
      );
    this.#tokens = tokenize(text);
  }

  /** The next token, without consuming it. */
  get nextName(): Token {
    const token = this.peek(0);
    if (token.kind === 'error') throw this.#firstError ?? new PromqlSyntaxError(this.text, token, token.name);
    return token;
  }

  /** Returns the token `distance` tokens ahead; at the end of the input, the last token. */
  peek(distance: number): Token {
    return this.#tokens[Math.min(this.#position + distance, this.#tokens.length - 1)] as Token;
  }

  consume(): Token {
    const token = this.nextName;
    this.#position++;
    return token;
  }

  /** Consumes a punctuation mark, operator or keyword if it is next. */
  consumeIf(name: string): Token | undefined {
    return this.isNext(name) ? this.consume() : undefined;
  }

  isNext(name: string): boolean {
    const { kind, name: nextName } = this.nextName;
    return nextName === name && kind !== 'string' && kind !== 'identifier' && kind !== 'metric';
  }

  /** Consumes the required next token. */
  expect(name: string): Token {
    return this.consumeIf(name) ?? this.failUnexpected();
  }

  /** Parses with its own context for unexpected tokens. */
  withContext<T>(context: string, expected: string, parse: () => T): T {
    const outerContext = this.#errorContext;
    this.#errorContext = { context, expected };
    this.#depth++;
    if (this.#depth > syntaxLimits.maxDepth) throw this.createDepthError();
    const result = parse();
    this.#depth--;
    this.#errorContext = outerContext;
    return result;
  }

  /** Parses with the same context, one level deeper. */
  withDepth<T>(parse: () => T): T {
    return this.withContext(this.#errorContext.context, this.#errorContext.expected, parse);
  }

  /** Returns the error for exceeded nesting depth. */
  createDepthError(position: Position = this.nextName): PromqlSyntaxError {
    return this.#createLimitError(position, `expression is nested more than ${syntaxLimits.maxDepth} levels deep`);
  }

  /** Counts a number, string, selector, call or operator. */
  countPart(position: Position): void {
    if (++this.#partCount > syntaxLimits.maxParts)
      throw this.#createLimitError(position, `expression has more than ${syntaxLimits.maxParts} parts`);
  }

  /** Checks that a list may have another item. */
  countListItem(items: readonly unknown[], itemKind: string, position: Position = this.nextName): void {
    if (items.length >= syntaxLimits.maxListItems)
      throw this.#createLimitError(position, `more than ${syntaxLimits.maxListItems} ${itemKind}`);
  }

  /** Counts the cost of compiling a regular expression, before it is compiled. */
  countRegex(cost: number, position: Position): void {
    this.#regexCost += cost;
    if (this.#regexCost > syntaxLimits.maxRegexCost)
      throw this.#createLimitError(position, 'error parsing regexp: expression too large');
  }

  #createLimitError(position: Position, problem: string): PromqlSyntaxError {
    return new PromqlSyntaxError(this.text, position, problem);
  }

  failUnexpected(context = this.#errorContext.context, expected = this.#errorContext.expected): never {
    const location = context === '' ? '' : ` in ${context}`;
    const expectation = expected === '' ? '' : `, expected ${expected}`;
    this.reportProblem(this.nextName, `unexpected ${describeToken(this.nextName)}${location}${expectation}`);
    throw this.#firstError as PromqlSyntaxError;
  }

  /** Records a problem and continues. */
  reportProblem(position: Position, problem: string): void {
    this.#firstError ??= new PromqlSyntaxError(this.text, position, problem);
  }

  /** Throws the first reported problem, if any. */
  throwFirstProblem(): void {
    if (this.#firstError !== undefined) throw this.#firstError;
  }
}
