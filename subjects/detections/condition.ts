/** The condition language: names of selections, `and`, `or`, `not`, parentheses, `1 of NAME*`, `all of them`. */
import type { Condition } from './documents.ts';

const tokenPattern = /\s+|[()]|\||[^\s()|]+/gy;
const maxDepth = 100;
/** Each term evaluates a selection for every event. Public rules have a few dozen at most. */
const maxTerms = 500;
const maxCharacters = 4_096;

/** A problem of a condition, with a message for people. */
export class ConditionError extends Error {}

/**
 * Returns whether a name matches a pattern in which `*` is any sequence of characters. Each part is searched once,
 * after the previous one.
 */
export const matchesNamePattern = (name: string, pattern: string): boolean => {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return name === first;
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let offset = first.length;
  for (const part of parts) {
    const foundOffset = name.indexOf(part, offset);
    if (foundOffset < 0) return false;
    offset = foundOffset + part.length;
  }
  return offset <= name.length - last.length;
};

class ConditionParser {
  readonly #words: readonly string[];
  readonly #names: readonly string[];
  #position = 0;
  /** Number of evaluated selections, including those of "of" and of previous conditions. */
  terms: number;

  constructor(text: string, names: readonly string[], terms: number) {
    this.terms = terms;
    this.#words = (text.match(tokenPattern) ?? []).filter((word) => word.trim() !== '');
    this.#names = names;
  }

  readCondition(): Condition {
    const condition = this.#readOr(0);
    const unexpectedWord = this.#words[this.#position];
    if (unexpectedWord === '|')
      throw new ConditionError('aggregations after | are not part of Sigma 2: write a correlation document instead');
    if (unexpectedWord !== undefined)
      throw new ConditionError(`expected "and", "or" or the end before "${unexpectedWord}"`);
    return condition;
  }

  #isNext(word: string): boolean {
    return this.#words[this.#position]?.toLowerCase() === word;
  }

  #readParts(is: 'and' | 'or', read: () => Condition): Condition {
    const parts = [read()];
    while (this.#isNext(is)) {
      this.#position++;
      parts.push(read());
    }
    return parts.length === 1 ? (parts[0] as Condition) : { is, parts };
  }

  #readOr(depth: number): Condition {
    if (depth > maxDepth) throw new ConditionError(`parentheses are nested more than ${maxDepth} levels deep`);
    return this.#readParts('or', () => this.#readParts('and', () => this.#readNot(depth)));
  }

  #readNot(depth: number): Condition {
    let isNegated = false;
    for (; this.#isNext('not'); this.#position++) isNegated = !isNegated;
    const part = this.#readTerm(depth);
    return isNegated ? { is: 'not', part } : part;
  }

  #readTerm(depth: number): Condition {
    const word = this.#words[this.#position++];
    if (word === undefined) throw new ConditionError('expected the name of a selection before the end');
    if (word === '(') {
      const inner = this.#readOr(depth + 1);
      if (this.#words[this.#position] === '|')
        throw new ConditionError('aggregations after | are not part of Sigma 2: write a correlation document instead');
      if (this.#words[this.#position++] !== ')') throw new ConditionError('expected a closing parenthesis');
      return inner;
    }
    if (/^(1|any|all)$/i.test(word) && this.#isNext('of')) return this.#readQuantifier(/^all$/i.test(word));
    if (/^\d+$/.test(word) && this.#isNext('of'))
      throw new ConditionError(`"${word} of" is not part of Sigma: write "1 of" or "all of"`);
    if (word === ')' || word === '|' || /^(and|or|of)$/i.test(word))
      throw new ConditionError(`expected the name of a selection before "${word}"`);
    if (!this.#names.includes(word)) throw new ConditionError(`the selection "${word}" does not exist`);
    this.#countTerms(1);
    return { is: 'selection', name: word };
  }

  #countTerms(terms: number): void {
    this.terms += terms;
    if (this.terms > maxTerms)
      throw new ConditionError(
        `references selections more than ${maxTerms} times, including those that "of" matches: use one selection with a list of values`,
      );
  }

  #readQuantifier(isAll: boolean): Condition {
    this.#position++;
    const pattern = this.#words[this.#position++];
    if (pattern === undefined)
      throw new ConditionError('expected the name of a selection, a pattern or "them" after "of"');
    // Names that begin with an underscore are excluded from "them".
    const names =
      pattern.toLowerCase() === 'them'
        ? this.#names.filter((name) => !name.startsWith('_'))
        : this.#names.filter((name) => matchesNamePattern(name, pattern));
    if (names.length === 0) throw new ConditionError(`no selection matches "${pattern}"`);
    this.#countTerms(names.length);
    return { is: 'of', all: isAll, names };
  }
}

/** Returns the selections in a condition, once for each use. */
export const collectTerms = (condition: Condition): readonly string[] => {
  switch (condition.is) {
    case 'and':
    case 'or':
      return condition.parts.flatMap(collectTerms);
    case 'not':
      return collectTerms(condition.part);
    case 'selection':
      return [condition.name];
    default:
      return condition.names;
  }
};

/**
 * Parses the conditions of a document, any of which must hold, over selections with these names. Throws
 * `ConditionError`.
 */
export const parseConditions = (texts: readonly string[], names: readonly string[]): Condition[] => {
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  if (characters > maxCharacters)
    throw new ConditionError(`has ${characters} characters; the maximum is ${maxCharacters}`);
  let terms = 0;
  return texts.map((text) => {
    const parser = new ConditionParser(text, names, terms);
    const condition = parser.readCondition();
    terms = parser.terms;
    return condition;
  });
};
