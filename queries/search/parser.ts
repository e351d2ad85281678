/**
 * Parses the search language to a tree. The README of the folder has the grammar. The page parses searches with it too,
 * so it depends on no data source and no regular expression engine.
 */
import { type Field, resolveReference } from '../../schemas/fields.ts';
import { createValidationError } from '../errors.ts';
import type { SignalDefinition } from '../signals/definition.ts';
import type { Regex } from './regex.ts';
import { Scanner, star } from './scanner.ts';
import { buildBareCondition, buildPhraseCondition, combineWithAnd } from './texts.ts';
import { matchAll, type Search, type SearchReference, type WordTest } from './tree.ts';
import { buildEqualCondition, buildRangeCondition, UnexpectedValue, type WrittenValue } from './values.ts';

/** Limits of a search. */
export const searchLimits = { characters: 4_096, depth: 50, conditions: 256, regexes: 16 } as const;

/** Fields of a search, and the compiler of its regular expressions, which returns the error message of an invalid one. */
export interface SearchContext extends Pick<SignalDefinition, 'fields' | 'parts'> {
  parseRegex(source: string): Regex | string;
}

const isOnlyStars = (text: string): boolean => /^\0+$/.test(text);

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
    this.#scanner.skipSpace();
    if (this.#scanner.isDone) return matchAll;
    const search = this.#parseOr();
    if (!this.#scanner.isDone) throw this.#scanner.error('expected an opening parenthesis before this closing one');
    return search;
  }

  /** Parses terms separated by OR. With a reference, the terms are values of that field or attribute. */
  #parseOr(reference?: SearchReference): Search {
    const parts = [this.#parseAnd(reference)];
    while (this.#scanner.tryConsumeWord('OR')) {
      this.#countCondition();
      parts.push(this.#parseAnd(reference));
    }
    return parts.length === 1 ? (parts[0] as Search) : { is: 'or', parts };
  }

  #parseAnd(reference?: SearchReference): Search {
    const parts: Search[] = [];
    do {
      parts.push(this.#parseNot(reference));
      this.#scanner.skipSpace();
    } while (this.#hasNextTerm());
    return combineWithAnd(parts);
  }

  #hasNextTerm(): boolean {
    if (this.#scanner.tryConsumeWord('AND')) return true;
    return !(this.#scanner.isDone || this.#scanner.isNext(')') || this.#scanner.isWordNext('OR'));
  }

  #parseNot(reference?: SearchReference): Search {
    this.#scanner.skipSpace();
    if (!(this.#scanner.tryConsumeWord('NOT') || (reference === undefined && this.#scanner.tryConsumeMinus())))
      return this.#parsePrimary(reference);
    return this.#withDepth(() => ({ is: 'not', part: this.#parseNot(reference) }));
  }

  #withDepth(parse: () => Search): Search {
    if (++this.#depth > searchLimits.depth)
      throw this.#scanner.error(`expected at most ${searchLimits.depth} levels of parentheses and NOT`);
    const search = parse();
    this.#depth--;
    return search;
  }

  #parsePrimary(reference?: SearchReference): Search {
    const scanner = this.#scanner;
    if (scanner.isNext('(')) return this.#parseGroup(reference);
    if (scanner.isDone || scanner.isNext(')') || scanner.isWordNext('AND') || scanner.isWordNext('OR'))
      throw scanner.error(
        `expected a word, a phrase, name:value or an opening parenthesis${scanner.isDone ? ' before the end' : ''}`,
      );
    if (reference !== undefined) return this.#parseValue(reference);
    const name = scanner.consumeName();
    return name === undefined ? this.#parseText() : this.#parseValue(this.#resolveReference(name));
  }

  /** Resolves a name to a field, or to an attribute of the record or of one of its parts. */
  #resolveReference(name: string): SearchReference {
    const part = this.#context.parts?.find((each) => name.startsWith(`${each}.`));
    return part === undefined
      ? resolveReference(this.#context.fields as readonly Field[], name)
      : { kind: part, key: name.slice(part.length + 1) };
  }

  #parseGroup(reference?: SearchReference): Search {
    const start = this.#scanner.position;
    return this.#withDepth(() => {
      this.#scanner.tryConsume('(');
      const search = this.#parseOr(reference);
      if (!this.#scanner.tryConsume(')'))
        throw this.#scanner.error('expected a closing parenthesis for this one', start);
      return search;
    });
  }

  #countCondition(): void {
    if (++this.#conditions > searchLimits.conditions)
      throw this.#scanner.error(`expected at most ${searchLimits.conditions} conditions`);
  }

  /** Parses a condition without a name. Adjacent plain words are one condition, however many there are. */
  #parseText(): Search {
    const scanner = this.#scanner;
    const start = scanner.position;
    const isPhrase = scanner.isNext('"');
    const regex = isPhrase ? undefined : this.#parseRegex();
    if (isPhrase || regex !== undefined) this.#countCondition();
    if (regex !== undefined) return { is: 'text', test: regex };
    if (isPhrase) return this.#requireCharacters(buildPhraseCondition(scanner.consumeQuoted()), start);
    const text = scanner.consumeBareText();
    if (isOnlyStars(text)) return matchAll;
    const condition = buildBareCondition(text);
    if (condition?.is !== 'text' || condition.test.is !== 'words') this.#countCondition();
    return this.#requireCharacters(condition, start);
  }

  #requireCharacters(condition: Search | undefined, start: number): Search {
    if (condition === undefined) throw this.#scanner.error('expected a character that is visible', start);
    return condition;
  }

  #parseValue(reference: SearchReference): Search {
    const scanner = this.#scanner;
    if (scanner.isNext('(')) return this.#parseGroup(reference);
    this.#countCondition();
    const start = scanner.position;
    const condition =
      this.#parseComparison(reference) ?? this.#parseRange(reference) ?? this.#parsePlainValue(reference);
    if (condition instanceof UnexpectedValue) throw scanner.error(`expected ${condition.expected}`, start);
    return condition;
  }

  #parseComparison(reference: SearchReference): Search | UnexpectedValue | undefined {
    const scanner = this.#scanner;
    const operator = ['>=', '<=', '>', '<'].find((each) => scanner.tryConsume(each));
    if (operator === undefined) return undefined;
    const value = scanner.isNext('"')
      ? { text: scanner.consumeQuoted(), isQuoted: true }
      : { text: scanner.consumeBareText(), isQuoted: false };
    if (value.text === '' && !value.isQuoted) throw scanner.error(`expected a value after ${operator}`);
    const bound = { value, isInclusive: operator.endsWith('=') };
    return buildRangeCondition(reference, operator.startsWith('>') ? { from: bound } : { to: bound });
  }

  #parseRange(reference: SearchReference): Search | UnexpectedValue | undefined {
    const scanner = this.#scanner;
    const fromInclusive = scanner.isNext('[');
    if (!(fromInclusive || scanner.isNext('{'))) return undefined;
    scanner.position++;
    const from = this.#parseBound();
    if (!scanner.tryConsumeWord('TO')) throw scanner.error('expected TO between the ends of a range, as in [1 TO 5]');
    const to = this.#parseBound();
    const toInclusive = scanner.isNext(']');
    if (!(toInclusive || scanner.isNext('}'))) throw scanner.error('expected ] or } at the end of a range');
    scanner.position++;
    return buildRangeCondition(reference, {
      ...(from === undefined ? {} : { from: { value: from, isInclusive: fromInclusive } }),
      ...(to === undefined ? {} : { to: { value: to, isInclusive: toInclusive } }),
    });
  }

  /** Parses a bound of a range; undefined for an open one. */
  #parseBound(): WrittenValue | undefined {
    const scanner = this.#scanner;
    scanner.skipSpace();
    const isQuoted = scanner.isNext('"');
    const text = isQuoted ? scanner.consumeQuoted() : scanner.consumeBound();
    if (text === '' && !isQuoted) throw scanner.error('expected an end of a range: a value, or * for none');
    scanner.skipSpace();
    return text === star && !isQuoted ? undefined : { text, isQuoted };
  }

  #parsePlainValue(reference: SearchReference): Search | UnexpectedValue {
    const scanner = this.#scanner;
    const isBody = reference.kind === 'field' && reference.field.name === 'body';
    if (scanner.isNext('"')) {
      const text = scanner.consumeQuoted();
      const phrase = isBody ? buildPhraseCondition(text) : undefined;
      return phrase ?? buildEqualCondition(reference, { text, isQuoted: true });
    }
    const regex = this.#parseRegex();
    if (regex !== undefined) {
      if (reference.kind === 'field' && ['number', 'time', 'duration'].includes(reference.field.type))
        return new UnexpectedValue('a value or a range: regular expressions are for texts');
      return isBody ? { is: 'text', test: regex } : { is: 'value', reference, test: regex };
    }
    const text = scanner.consumeBareText();
    if (isOnlyStars(text)) return { is: 'value', reference, test: { is: 'exists' } };
    const words = isBody ? buildBareCondition(text) : undefined;
    return words ?? buildEqualCondition(reference, { text, isQuoted: false });
  }

  #parseRegex(): Extract<WordTest, { is: 'regex' }> | undefined {
    const scanner = this.#scanner;
    const start = scanner.position;
    const source = scanner.isNext('/') ? scanner.consumeRegex() : undefined;
    if (source === undefined) return undefined;
    if (++this.#regexes > searchLimits.regexes)
      throw scanner.error(`expected at most ${searchLimits.regexes} regular expressions`, start);
    const regex = this.#context.parseRegex(source);
    if (typeof regex === 'string') throw scanner.error(`expected a regular expression of RE2: ${regex}`, start);
    return { is: 'regex', regex };
  }
}

/**
 * Parses a search. Throws a `QueryError` about `path` with the column and the expected token. An empty search matches
 * everything.
 */
export const parseSearchText = (text: string, context: SearchContext, { path = 'search' } = {}): Search => {
  if (text.length > searchLimits.characters)
    throw createValidationError(path, `must have at most ${searchLimits.characters} characters`);
  const invalidIndex = text.isWellFormed() ? text.indexOf('\0') : 0;
  if (invalidIndex >= 0) throw createValidationError(path, 'must be Unicode without NUL');
  return new Parser(new Scanner(text, path), context).parse();
};
