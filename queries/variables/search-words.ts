/** Tokens of a search, for the replacement of variables. Uses the same scanner as the parser. */
import { Scanner } from '../search/scanner.ts';

/** A token of a search. A `mark` is syntax: parentheses, operators and brackets. */
export interface SearchWord {
  readonly is: 'name' | 'phrase' | 'regex' | 'word' | 'mark';
  readonly start: number;
  readonly end: number;
  /** Role of a value: the value of a name, a bound of a range, or a comparison. */
  readonly as: 'text' | 'value' | 'end';
}

/** Reads the same syntax as the parser, in its order. */
class SearchTokenizer {
  readonly words: SearchWord[] = [];
  readonly #scanner: Scanner;
  /** For each open parenthesis, whether it contains values of a name. */
  readonly #areValuesInGroup: boolean[] = [];
  #hasName = false;

  constructor(text: string) {
    this.#scanner = new Scanner(text, 'search');
  }

  tokenize(): readonly SearchWord[] {
    for (;;) {
      this.#scanner.skipSpace();
      if (this.#scanner.isDone) return this.words;
      this.#scanToken();
    }
  }

  #addToken(is: SearchWord['is'], start: number, as: SearchWord['as'] = this.#isValue ? 'value' : 'text'): void {
    this.words.push({ is, start, end: this.#scanner.position, as });
  }

  get #isValue(): boolean {
    return this.#hasName || this.#areValuesInGroup.at(-1) === true;
  }

  #scanToken(): void {
    const scanner = this.#scanner;
    const start = scanner.position;
    if (scanner.tryConsume('(')) {
      this.#areValuesInGroup.push(this.#isValue);
      this.#hasName = false;
      this.#addToken('mark', start);
    } else if (scanner.tryConsume(')')) {
      this.#areValuesInGroup.pop();
      this.#addToken('mark', start);
    } else if (
      !this.#hasName &&
      (['AND', 'OR', 'NOT'].some((word) => scanner.tryConsumeWord(word)) || this.#consumeMinus())
    )
      this.#addToken('mark', start);
    else if (!this.#isValue && scanner.consumeName() !== undefined) {
      this.#hasName = true;
      this.#addToken('name', start);
    } else this.#scanCondition(start);
  }

  #consumeMinus(): boolean {
    return !this.#isValue && this.#scanner.tryConsumeMinus();
  }

  #scanCondition(start: number): void {
    const scanner = this.#scanner;
    const isValue = this.#isValue;
    if (isValue && ['>=', '<=', '>', '<'].some((value) => scanner.tryConsume(value))) {
      this.#addToken('mark', start);
      this.#scanBound(scanner.position);
    } else if (isValue && (scanner.isNext('[') || scanner.isNext('{'))) this.#scanRange(start);
    else if (scanner.isNext('"')) {
      scanner.consumeQuoted();
      this.#addToken('phrase', start);
    } else if (scanner.isNext('/') && scanner.consumeRegex() !== undefined) this.#addToken('regex', start);
    else {
      scanner.consumeBareText();
      this.#addToken('word', start);
    }
    this.#hasName = false;
  }

  #scanBound(start: number): void {
    const scanner = this.#scanner;
    const isPhrase = scanner.isNext('"');
    if (isPhrase) scanner.consumeQuoted();
    else scanner.consumeBareText();
    this.#addToken(isPhrase ? 'phrase' : 'word', start, 'end');
  }

  #scanRange(start: number): void {
    const scanner = this.#scanner;
    scanner.position++;
    this.#addToken('mark', start);
    for (const isEnd of [false, true]) {
      scanner.skipSpace();
      const from = scanner.position;
      const isPhrase = scanner.isNext('"');
      if (isPhrase) scanner.consumeQuoted();
      else scanner.consumeBound();
      this.#addToken(isPhrase ? 'phrase' : 'word', from, 'end');
      scanner.skipSpace();
      const mark = scanner.position;
      if (isEnd ? scanner.tryConsume(']') || scanner.tryConsume('}') : scanner.tryConsumeWord('TO'))
        this.#addToken('mark', mark);
      else
        throw scanner.error(
          isEnd ? 'expected ] or } at the end of a range' : 'expected TO between the ends of a range',
        );
    }
  }
}

/** Returns the tokens of a search from left to right. Throws a `QueryError` if it cannot be scanned. */
export const tokenizeSearch = (text: string): readonly SearchWord[] => new SearchTokenizer(text).tokenize();
