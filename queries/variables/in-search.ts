/**
 * Replaces variables in the search language. A value becomes one or several strings, values or names, so it cannot
 * inject syntax.
 */
import { foldText } from '../../schemas/tables/search-text.ts';
import { createValidationError, type QueryError } from '../errors.ts';
import { escapeRegex, formatValue } from './formats.ts';
import { createTemplate, findReferences, type Reference, splitTemplate, type Template } from './references.ts';
import type { Scope, VariableValue } from './scope.ts';
import { type SearchWord, tokenizeSearch } from './search-words.ts';

type TemplateParts = readonly (string | Reference)[];

/** Maximum number of conditions in a search. */
const maxValueCombinations = 256;

const createVariableError = (name: string, description: string): QueryError =>
  createValidationError('search', `variable ${name} ${description}`);

const quotePhrase = (text: string): string => `"${text.replaceAll(/[\\"]/g, (sign) => `\\${sign}`)}"`;

/** Escapes special characters of a word with a backslash. */
const escapeWord = (text: string): string => text.replaceAll(/[\\"*:()[\]{}<>/]/g, (sign) => `\\${sign}`);

/** Returns whether a text, which may begin with a value, can be a word. */
const isWord = (text: string, beginsWithValue: boolean): boolean =>
  !/\s/.test(text) &&
  !['', 'AND', 'OR', 'NOT', 'TO'].includes(text) &&
  !(beginsWithValue && /^(?:[+!=]|-(?!\d))/.test(text));

const escapeForRegex = (text: string): string =>
  escapeRegex(text)
    .replaceAll('/', '\\/')
    .replaceAll(/\s/g, (space) => `\\x{${(space.codePointAt(0) as number).toString(16)}}`);

/** Returns all texts of the parts, one for each combination of values. */
const combineTexts = (
  pieces: TemplateParts,
  getTexts: (piece: string | Reference) => readonly string[],
): readonly string[] => {
  let texts: readonly string[] = [''];
  for (const piece of pieces) {
    const parts = getTexts(piece);
    if (texts.length * parts.length > maxValueCombinations)
      throw createValidationError('search', `has variables with more than ${maxValueCombinations} values in total`);
    texts = texts.flatMap((text) => parts.map((part) => text + part));
  }
  return texts;
};

class WordReplacer {
  readonly #template: Template;
  readonly #scope: Scope;

  constructor(template: Template, scope: Scope) {
    this.#template = template;
    this.#scope = scope;
  }

  replaceWord(word: SearchWord): string {
    const { start, end } = word;
    if (word.is === 'name') return this.#replaceName(start, end - 1);
    if (word.is === 'regex') return this.#replaceRegex(splitTemplate(this.#template, start, end));
    const isPhrase = word.is === 'phrase';
    const pieces = splitTemplate(this.#template, start + (isPhrase ? 1 : 0), end - (isPhrase ? 1 : 0));
    if (this.#matchesEverything(pieces, word)) return '*';
    const texts = isPhrase ? this.#replacePhrase(pieces) : this.#replaceWords(pieces);
    if (texts.length === 1) return texts[0] as string;
    const first = pieces.find((piece) => typeof piece !== 'string') as Reference;
    if (word.as === 'end') throw createVariableError(first.name, 'has several values where one is compared');
    return `(${texts.join(' OR ')})`;
  }

  #replaceName(start: number, end: number): string {
    const isQuoted = this.#template.text[start] === '"';
    const quoteLength = isQuoted ? 1 : 0;
    return this.#buildName(splitTemplate(this.#template, start + quoteLength, end - quoteLength), isQuoted);
  }

  /**
   * Returns whether a variable matches everything: the selection of all values, or as a word a value without a visible
   * character. An empty value of a field matches nothing.
   */
  #matchesEverything(pieces: TemplateParts, { as }: SearchWord): boolean {
    const [reference] = pieces;
    if (pieces.length !== 1 || typeof reference !== 'object' || reference.format !== undefined) return false;
    const { values, includesEveryValue, isDefinedByAuthor } = this.#getValue(reference);
    if (isDefinedByAuthor === true && values[0] === '*') return true;
    return (
      as !== 'end' &&
      (includesEveryValue === true || (as === 'text' && values.every((value) => foldText(value).trim() === '')))
    );
  }

  #getValue(reference: Reference): VariableValue {
    return this.#scope.get(reference.name) as VariableValue;
  }

  /** Returns the texts of a variable: one for each value, or a single text if the variable has a format. */
  #getTexts(reference: Reference): readonly string[] {
    const value = this.#getValue(reference);
    const texts =
      reference.format === undefined ? value.values : [formatValue(value, reference.name, reference.format)];
    if (texts.length === 0) throw createVariableError(reference.name, 'has no value');
    return texts.map((text) => text.toWellFormed().replaceAll('\0', '\ufffd'));
  }

  #replacePhrase(pieces: TemplateParts): readonly string[] {
    const unescapeLiteral = (piece: string): string => piece.replaceAll(/\\([\\"])/g, '$1');
    return combineTexts(pieces, (piece) =>
      typeof piece === 'string' ? [unescapeLiteral(piece)] : this.#getTexts(piece),
    ).map(quotePhrase);
  }

  /** Converts a text with spaces to a phrase, which has no asterisks. */
  #replaceWords(pieces: TemplateParts): readonly string[] {
    const words = combineTexts(pieces, (piece) =>
      typeof piece === 'string' ? [piece] : this.#getTexts(piece).map(escapeWord),
    );
    const plainTexts = combineTexts(pieces, (piece) =>
      typeof piece === 'string' ? [piece.replaceAll(/\\([\\"*:()[\]{}<>/])/g, '$1')] : this.#getTexts(piece),
    );
    const hasStar = pieces.some((piece) => typeof piece === 'string' && /(?:^|[^\\])\*/.test(piece));
    return words.map((word, index) => {
      const text = plainTexts[index] as string;
      if (isWord(text, typeof pieces[0] === 'object')) return word;
      if (!hasStar) return quotePhrase(text);
      const first = pieces.find((piece) => typeof piece !== 'string') as Reference;
      throw createVariableError(first.name, 'has a space, and is part of a pattern with an asterisk');
    });
  }

  #buildName(pieces: TemplateParts, isQuoted: boolean): string {
    const unescapeName = (piece: string): string =>
      isQuoted ? piece.replaceAll(/\\([\\"])/g, '$1') : piece.replaceAll(/\\([\\"*:()[\]{}<>/])/g, '$1');
    const names = combineTexts(pieces, (piece) =>
      typeof piece === 'string' ? [unescapeName(piece)] : this.#getTexts(piece),
    );
    const [name = ''] = names;
    const first = pieces.find((piece) => typeof piece !== 'string') as Reference;
    if (names.length > 1) throw createVariableError(first.name, 'has several values where one name is expected');
    if (name === '') throw createVariableError(first.name, 'is empty where a name is expected');
    return `${/^[\p{L}_@][\p{L}\p{N}_.@-]*$/u.test(name) ? name : quotePhrase(name)}:`;
  }

  #replaceRegex(pieces: TemplateParts): string {
    return pieces
      .map((piece) => {
        if (typeof piece === 'string') return piece;
        const texts = this.#getTexts(piece).map(escapeForRegex);
        return texts.length === 1 ? texts[0] : `(?:${texts.join('|')})`;
      })
      .join('');
  }
}

/**
 * Returns a search with its variables replaced. Throws a `QueryError` if a value is not valid at its position. Other
 * tokens never change, whatever the values contain: a variable becomes one text, or several in parentheses.
 */
export const replaceInSearch = (search: string, scope: Scope): string => {
  const references = findReferences(search, scope);
  if (references.length === 0) return search;
  const template = createTemplate(search, references, () => 'v');
  const writer = new WordReplacer(template, scope);
  let text = '';
  let from = 0;
  for (const word of tokenizeSearch(template.text)) {
    if (!template.marks.some(({ at }) => at >= word.start && at < word.end)) continue;
    text += template.text.slice(from, word.start) + writer.replaceWord(word);
    from = word.end;
  }
  return text + template.text.slice(from);
};
