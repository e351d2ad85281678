/**
 * Parses the search language to a tree. The README of the folder has the grammar. The page parses searches with it too,
 * so it depends on no data source and no regular expression engine.
 */
import { type Field, referenceOf } from '../../schemas/fields.ts';
import { lowered } from '../../schemas/tables/search.ts';
import { invalid } from '../errors.ts';
import type { SignalDefinition } from '../signals/definition.ts';
import type { Regex } from './regex.ts';
import { Scanner, star } from './scanner.ts';
import { all, none, type Search, type SearchReference, type WordTest } from './tree.ts';
import { equalTo, Unexpected, type Written, within } from './values.ts';

/** Limits of a search. */
export const searchLimits = { characters: 4_096, depth: 50, conditions: 256, regexes: 16 } as const;

/** Only punctuation: ignored next to other conditions, and alone it matches nothing. */
const blank: Search = { is: 'none' };

const wordPattern = /[0-9A-Za-z\u0080-\u{10ffff}\0]+/gu;

/** Merges conditions of words, so that each word is tested once. */
const both = (parts: readonly Search[]): Search => {
  const words = new Set<string>();
  const others: Search[] = [];
  for (const part of parts) {
    if (part.is === 'text' && part.test.is === 'words') for (const word of part.test.words) words.add(word);
    else if (part !== blank) others.push(part);
  }
  if (words.size > 0) others.unshift({ is: 'text', test: { is: 'words', words: [...words] } });
  const [first, second] = others;
  if (first === undefined) return parts[0] ?? all;
  return second === undefined ? first : { is: 'and', parts: others };
};

/** Returns a condition of every word in any order; with asterisks, words that match a prefix, infix or suffix. */
const wordsIn = (text: string): Search => {
  const parts: Search[] = [];
  for (const word of text.match(wordPattern) ?? []) {
    const pieces = lowered(word).split(star);
    const test: WordTest = pieces.length === 1 ? { is: 'words', words: pieces } : { is: 'pattern', pieces };
    if (pieces.some((piece) => piece !== '')) parts.push({ is: 'text', test });
  }
  return parts.length === 0 ? blank : both(parts);
};

/** Returns a condition of consecutive words. */
const phraseOf = (text: string): Search => {
  const words = (text.match(wordPattern) ?? []).map(lowered);
  if (words.length < 2) return wordsIn(text);
  return { is: 'text', test: { is: 'phrase', words } };
};

/** Fields of a search, and the compiler of its regular expressions, which returns the problem of an invalid one. */
export interface SearchContext extends Pick<SignalDefinition, 'fields' | 'parts'> {
  regexOf(source: string): Regex | string;
}

class Parser {
  readonly #scanner: Scanner;
  readonly #context: SearchContext;
  #depth = 0;
  #conditions = 0;
  #regexes = 0;

  constructor(scanner: Scanner, context: SearchContext) {
    this.#scanner = scanner;
    this.#context = context;
  }

  parse(): Search {
    this.#scanner.space();
    if (this.#scanner.isDone) return all;
    const search = this.#or();
    if (!this.#scanner.isDone) throw this.#scanner.error('expected an opening parenthesis before this closing one');
    return search;
  }

  /** With a reference, terms are values of it. */
  #or(reference?: SearchReference): Search {
    const parts = [this.#and(reference)];
    while (this.#scanner.tryConsumeWord('OR')) {
      this.#count();
      parts.push(this.#and(reference));
    }
    return parts.length === 1 ? (parts[0] as Search) : { is: 'or', parts };
  }

  #and(reference?: SearchReference): Search {
    const parts: Search[] = [];
    do {
      parts.push(this.#not(reference));
      this.#scanner.space();
    } while (this.#goesOn());
    return both(parts);
  }

  #goesOn(): boolean {
    if (this.#scanner.tryConsumeWord('AND')) return true;
    return !(this.#scanner.isDone || this.#scanner.peeks(')') || this.#scanner.peeksWord('OR'));
  }

  #not(reference?: SearchReference): Search {
    this.#scanner.space();
    if (!(this.#scanner.tryConsumeWord('NOT') || (reference === undefined && this.#scanner.tryConsumeMinus())))
      return this.#primary(reference);
    return this.#deeper(() => ({ is: 'not', part: this.#not(reference) }));
  }

  #deeper(read: () => Search): Search {
    if (++this.#depth > searchLimits.depth)
      throw this.#scanner.error(`expected at most ${searchLimits.depth} levels of parentheses and NOT`);
    const search = read();
    this.#depth--;
    return search;
  }

  #primary(reference?: SearchReference): Search {
    const scanner = this.#scanner;
    if (scanner.peeks('(')) return this.#group(reference);
    if (scanner.isDone || scanner.peeks(')') || scanner.peeksWord('AND') || scanner.peeksWord('OR'))
      throw scanner.error(
        `expected a word, a phrase, name:value or an opening parenthesis${scanner.isDone ? ' before the end' : ''}`,
      );
    if (reference !== undefined) return this.#value(reference);
    const name = scanner.name();
    return name === undefined ? this.#text() : this.#value(this.#reference(name));
  }

  /** Returns an attribute of that name if records have no such parts. */
  #reference(name: string): SearchReference {
    const part = this.#context.parts?.find((each) => name.startsWith(`${each}.`));
    return part === undefined
      ? referenceOf(this.#context.fields as readonly Field[], name)
      : { kind: part, key: name.slice(part.length + 1) };
  }

  #group(reference?: SearchReference): Search {
    const start = this.#scanner.at;
    return this.#deeper(() => {
      this.#scanner.tryConsume('(');
      const search = this.#or(reference);
      if (!this.#scanner.tryConsume(')'))
        throw this.#scanner.error('expected a closing parenthesis for this one', start);
      return search;
    });
  }

  #count(): void {
    if (++this.#conditions > searchLimits.conditions)
      throw this.#scanner.error(`expected at most ${searchLimits.conditions} conditions`);
  }

  /** Parses a condition without a name. Adjacent plain words are one condition, however many there are. */
  #text(): Search {
    const scanner = this.#scanner;
    const isPhrase = scanner.peeks('"');
    const regex = isPhrase ? undefined : this.#regex();
    if (isPhrase || regex !== undefined) this.#count();
    if (isPhrase) return phraseOf(scanner.quoted());
    if (regex !== undefined) return { is: 'text', test: regex };
    const text = scanner.bare();
    if (text === star) return all;
    if (text.includes(star)) this.#count();
    return wordsIn(text);
  }

  #value(reference: SearchReference): Search {
    const scanner = this.#scanner;
    if (scanner.peeks('(')) return this.#group(reference);
    this.#count();
    const start = scanner.at;
    const found = this.#comparison(reference) ?? this.#range(reference) ?? this.#plain(reference);
    if (found instanceof Unexpected) throw scanner.error(`expected ${found.expected}`, start);
    return found;
  }

  #comparison(reference: SearchReference): Search | Unexpected | undefined {
    const scanner = this.#scanner;
    const operator = ['>=', '<=', '>', '<'].find((each) => scanner.tryConsume(each));
    if (operator === undefined) return undefined;
    const value = scanner.peeks('"')
      ? { text: scanner.quoted(), isQuoted: true }
      : { text: scanner.bare(), isQuoted: false };
    if (value.text === '' && !value.isQuoted) throw scanner.error(`expected a value after ${operator}`);
    const bound = { value, isInclusive: operator.endsWith('=') };
    return within(reference, operator.startsWith('>') ? { from: bound } : { to: bound });
  }

  #range(reference: SearchReference): Search | Unexpected | undefined {
    const scanner = this.#scanner;
    const fromInclusive = scanner.peeks('[');
    if (!(fromInclusive || scanner.peeks('{'))) return undefined;
    scanner.at++;
    const from = this.#bound();
    if (!scanner.tryConsumeWord('TO')) throw scanner.error('expected TO between the ends of a range, as in [1 TO 5]');
    const to = this.#bound();
    const toInclusive = scanner.peeks(']');
    if (!(toInclusive || scanner.peeks('}'))) throw scanner.error('expected ] or } at the end of a range');
    scanner.at++;
    return within(reference, {
      ...(from === undefined ? {} : { from: { value: from, isInclusive: fromInclusive } }),
      ...(to === undefined ? {} : { to: { value: to, isInclusive: toInclusive } }),
    });
  }

  /** Parses a bound of a range; undefined for an open one. */
  #bound(): Written | undefined {
    const scanner = this.#scanner;
    scanner.space();
    const isQuoted = scanner.peeks('"');
    const text = isQuoted ? scanner.quoted() : scanner.bound();
    if (text === '' && !isQuoted) throw scanner.error('expected an end of a range: a value, or * for none');
    scanner.space();
    return text === star && !isQuoted ? undefined : { text, isQuoted };
  }

  #plain(reference: SearchReference): Search | Unexpected {
    const scanner = this.#scanner;
    const isBody = reference.kind === 'field' && reference.field.name === 'body';
    if (scanner.peeks('"')) {
      const text = scanner.quoted();
      return isBody ? phraseOf(text) : equalTo(reference, { text, isQuoted: true });
    }
    const regex = this.#regex();
    if (regex !== undefined) {
      if (reference.kind === 'field' && ['number', 'time', 'duration'].includes(reference.field.type))
        return new Unexpected('a value or a range: regular expressions are for texts');
      return isBody ? { is: 'text', test: regex } : { is: 'value', reference, test: regex };
    }
    const text = scanner.bare();
    if (text === star) return { is: 'value', reference, test: { is: 'exists' } };
    return isBody ? wordsIn(text) : equalTo(reference, { text, isQuoted: false });
  }

  #regex(): Extract<WordTest, { is: 'regex' }> | undefined {
    const scanner = this.#scanner;
    const start = scanner.at;
    const source = scanner.peeks('/') ? scanner.regex() : undefined;
    if (source === undefined) return undefined;
    if (++this.#regexes > searchLimits.regexes)
      throw scanner.error(`expected at most ${searchLimits.regexes} regular expressions`, start);
    const regex = this.#context.regexOf(source);
    if (typeof regex === 'string') throw scanner.error(`expected a regular expression of RE2: ${regex}`, start);
    return { is: 'regex', regex };
  }
}

/**
 * Parses a search. Throws a `QueryError` about `path` with the column and the expected token. An empty search matches
 * everything.
 */
export const readSearch = (text: string, context: SearchContext, { path = 'search' } = {}): Search => {
  if (text.length > searchLimits.characters)
    throw invalid(path, `must have at most ${searchLimits.characters} characters`);
  const foreign = text.isWellFormed() ? text.indexOf('\0') : 0;
  if (foreign >= 0) throw invalid(path, 'must be Unicode without NUL');
  const search = new Parser(new Scanner(text, path), context).parse();
  return search === blank ? none : search;
};
