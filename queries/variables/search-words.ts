/** Tokens of a search, for the replacement of variables. Uses the same scanner as the parser. */
import { Scanner } from '../search/scanner.ts';

/** `mark` is everything that is not user text: parentheses, operators and brackets. */
export interface SearchWord {
  readonly is: 'name' | 'phrase' | 'regex' | 'word' | 'mark';
  readonly start: number;
  readonly end: number;
  /** Role of a value: the value of a name, a bound of a range, or a comparison. */
  readonly as: 'text' | 'value' | 'end';
}

/** Reads the same syntax as the parser, in its order. */
class Reader {
  readonly words: SearchWord[] = [];
  readonly #scanner: Scanner;
  /** For each open parenthesis, whether it contains values of a name. */
  readonly #values: boolean[] = [];
  #hasName = false;

  constructor(text: string) {
    this.#scanner = new Scanner(text, 'search');
  }

  run(): readonly SearchWord[] {
    for (;;) {
      this.#scanner.space();
      if (this.#scanner.isDone) return this.words;
      this.#next();
    }
  }

  #add(is: SearchWord['is'], start: number, as: SearchWord['as'] = this.#isValue ? 'value' : 'text'): void {
    this.words.push({ is, start, end: this.#scanner.at, as });
  }

  get #isValue(): boolean {
    return this.#hasName || this.#values.at(-1) === true;
  }

  #next(): void {
    const scanner = this.#scanner;
    const start = scanner.at;
    if (scanner.tryConsume('(')) {
      this.#values.push(this.#isValue);
      this.#hasName = false;
      this.#add('mark', start);
    } else if (scanner.tryConsume(')')) {
      this.#values.pop();
      this.#add('mark', start);
    } else if (!this.#hasName && (['AND', 'OR', 'NOT'].some((word) => scanner.tryConsumeWord(word)) || this.#minus()))
      this.#add('mark', start);
    else if (!this.#isValue && scanner.name() !== undefined) {
      this.#hasName = true;
      this.#add('name', start);
    } else this.#condition(start);
  }

  #minus(): boolean {
    return !this.#isValue && this.#scanner.tryConsumeMinus();
  }

  #condition(start: number): void {
    const scanner = this.#scanner;
    const isValue = this.#isValue;
    if (isValue && ['>=', '<=', '>', '<'].some((each) => scanner.tryConsume(each))) {
      this.#add('mark', start);
      this.#end(scanner.at);
    } else if (isValue && (scanner.peeks('[') || scanner.peeks('{'))) this.#range(start);
    else if (scanner.peeks('"')) {
      scanner.quoted();
      this.#add('phrase', start);
    } else if (scanner.peeks('/') && scanner.regex() !== undefined) this.#add('regex', start);
    else {
      scanner.bare();
      this.#add('word', start);
    }
    this.#hasName = false;
  }

  #end(start: number): void {
    const scanner = this.#scanner;
    const isPhrase = scanner.peeks('"');
    if (isPhrase) scanner.quoted();
    else scanner.bare();
    this.#add(isPhrase ? 'phrase' : 'word', start, 'end');
  }

  #range(start: number): void {
    const scanner = this.#scanner;
    scanner.at++;
    this.#add('mark', start);
    for (const closes of [false, true]) {
      scanner.space();
      const from = scanner.at;
      const isPhrase = scanner.peeks('"');
      if (isPhrase) scanner.quoted();
      else scanner.bound();
      this.#add(isPhrase ? 'phrase' : 'word', from, 'end');
      scanner.space();
      const mark = scanner.at;
      if (closes ? scanner.tryConsume(']') || scanner.tryConsume('}') : scanner.tryConsumeWord('TO'))
        this.#add('mark', mark);
      else
        throw scanner.error(
          closes ? 'expected ] or } at the end of a range' : 'expected TO between the ends of a range',
        );
    }
  }
}

/** Returns the tokens of a search from left to right. Throws a `QueryError` if it cannot be scanned. */
export const searchWords = (text: string): readonly SearchWord[] => new Reader(text).run();
