/** The condition language: names of selections, `and`, `or`, `not`, parentheses, `1 of NAME*`, `all of them`. */
import type { Condition } from './documents.ts';

const words = /\s+|[()]|\||[^\s()|]+/gy;
const mostDepth = 100;

/** What is wrong with a condition, for people. */
export class ConditionError extends Error {}

/** Whether a name fits a pattern in which `*` is any run of characters. */
export const fitsName = (name: string, pattern: string): boolean =>
  new RegExp(`^${pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 's').test(name);

class ConditionReader {
  readonly #words: readonly string[];
  readonly #names: readonly string[];
  #at = 0;

  constructor(text: string, names: readonly string[]) {
    this.#words = (text.match(words) ?? []).filter((word) => word.trim() !== '');
    this.#names = names;
  }

  read(): Condition {
    const condition = this.#or(0);
    const rest = this.#words[this.#at];
    if (rest === '|')
      throw new ConditionError('aggregations behind | are no part of Sigma 2: write a correlation document instead');
    if (rest !== undefined) throw new ConditionError(`expected "and", "or" or the end before "${rest}"`);
    return condition;
  }

  #isNext(word: string): boolean {
    return this.#words[this.#at]?.toLowerCase() === word;
  }

  #several(is: 'and' | 'or', read: () => Condition): Condition {
    const parts = [read()];
    while (this.#isNext(is)) {
      this.#at++;
      parts.push(read());
    }
    return parts.length === 1 ? (parts[0] as Condition) : { is, parts };
  }

  #or(depth: number): Condition {
    if (depth > mostDepth) throw new ConditionError(`parentheses nest deeper than ${mostDepth}`);
    return this.#several('or', () => this.#several('and', () => this.#not(depth)));
  }

  #not(depth: number): Condition {
    let isNegated = false;
    for (; this.#isNext('not'); this.#at++) isNegated = !isNegated;
    const part = this.#one(depth);
    return isNegated ? { is: 'not', part } : part;
  }

  #one(depth: number): Condition {
    const word = this.#words[this.#at++];
    if (word === undefined) throw new ConditionError('expected the name of a selection before the end');
    if (word === '(') {
      const inner = this.#or(depth + 1);
      if (this.#words[this.#at] === '|')
        throw new ConditionError('aggregations behind | are no part of Sigma 2: write a correlation document instead');
      if (this.#words[this.#at++] !== ')') throw new ConditionError('expected a closing parenthesis');
      return inner;
    }
    if (/^(1|any|all)$/i.test(word) && this.#isNext('of')) return this.#of(/^all$/i.test(word));
    if (/^\d+$/.test(word) && this.#isNext('of'))
      throw new ConditionError(`"${word} of" is no part of Sigma: write "1 of" or "all of"`);
    if (word === ')' || word === '|' || /^(and|or|of)$/i.test(word))
      throw new ConditionError(`expected the name of a selection before "${word}"`);
    if (!this.#names.includes(word)) throw new ConditionError(`there is no selection "${word}"`);
    return { is: 'selection', name: word };
  }

  #of(all: boolean): Condition {
    this.#at++;
    const pattern = this.#words[this.#at++];
    if (pattern === undefined)
      throw new ConditionError('expected the name of a selection, a pattern or "them" after "of"');
    // Names that begin with an underscore are meant for use by other means than "them".
    const names =
      pattern.toLowerCase() === 'them'
        ? this.#names.filter((name) => !name.startsWith('_'))
        : this.#names.filter((name) => fitsName(name, pattern));
    if (names.length === 0) throw new ConditionError(`no selection fits "${pattern}"`);
    return { is: 'of', all, names };
  }
}

/** Reads a condition over selections of these names. Throws `ConditionError`. */
export const readCondition = (text: string, names: readonly string[]): Condition =>
  new ConditionReader(text, names).read();
