/** Conditions of written texts, which records contain as words or literally. */
import { characterClasses, foldText, hasBoundary, separateWords } from '../../schemas/tables/search-text.ts';
import { star } from './scanner.ts';
import type { Search, WordTest } from './tree.ts';

const createCondition = (test: WordTest): Search => ({ is: 'text', test });

/** Combines conditions, so that each word is tested once. */
export const combineWithAnd = (parts: readonly Search[]): Search => {
  const words = new Set<string>();
  const otherConditions: Search[] = [];
  for (const part of parts.flatMap((each) => (each.is === 'and' ? each.parts : each)))
    if (part.is === 'text' && part.test.is === 'words') for (const word of part.test.words) words.add(word);
    else otherConditions.push(part);
  if (words.size > 0) otherConditions.unshift(createCondition({ is: 'words', words: [...words] }));
  const [first, second] = otherConditions;
  return second === undefined && first !== undefined ? first : { is: 'and', parts: otherConditions };
};

const escapeLiteral = (text: string): string =>
  text.replace(/[\0-/:-@[-`{-\x7f]/g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** Returns a regular expression of a folded text between boundaries of words. Whitespace matches any whitespace. */
const buildLiteralSource = (folded: string): string => {
  const characters = [...folded];
  const needsBoundary = (character = star): boolean => character !== star && !hasBoundary(character);
  return [
    needsBoundary(characters[0]) ? `(?:^|${characterClasses.boundary})` : '',
    folded
      .split(/[\t-\r ]+/)
      .map((piece) => piece.split(star).map(escapeLiteral).join(`${characterClasses.word}*`))
      .join('[\\x09-\\x0d ]+'),
    needsBoundary(characters.at(-1)) ? `(?:${characterClasses.boundary}|$)` : '',
  ].join('');
};

const wordOrStarPattern = /[0-9A-Za-z\0\u0080-\u{10ffff}]+/gu;

/** Returns a condition that a text contains a folded text literally. Its words have an index. */
const buildLiteralCondition = (folded: string): Search => {
  const words = (separateWords(folded).match(wordOrStarPattern) ?? []).filter((word) => !word.includes(star));
  const part = folded.split(/[\0\t-\r ]+/).reduce((one, other) => (other.length > one.length ? other : one));
  const source = buildLiteralSource(folded);
  const literal = createCondition({
    is: 'literal',
    text: folded.replaceAll(star, '*'),
    part,
    source: source === escapeLiteral(part) ? undefined : source,
  });
  return words.length === 0 ? literal : combineWithAnd([createCondition({ is: 'words', words }), literal]);
};

/**
 * Returns the condition of a text without quotes: a word, a pattern of a word, or any other text literally. Undefined if
 * it has no character that can be searched.
 */
export const buildBareCondition = (text: string): Search | undefined => {
  const folded = foldText(text);
  const pieces = folded.split(star);
  if (pieces.every((piece) => piece.trim() === '')) return undefined;
  if (pieces.some(hasBoundary)) return buildLiteralCondition(folded);
  return createCondition(pieces.length === 1 ? { is: 'words', words: pieces } : { is: 'pattern', pieces });
};

/**
 * Returns the condition of a quoted text: consecutive words, whatever is between them, or with punctuation the text
 * literally. Undefined if it has no character that can be searched.
 */
export const buildPhraseCondition = (text: string): Search | undefined => {
  const folded = foldText(text).trim();
  if (folded === '') return undefined;
  const words = folded.split(/[\t-\r ]+/);
  if (words.some(hasBoundary)) return buildLiteralCondition(folded);
  return createCondition(words.length === 1 ? { is: 'words', words } : { is: 'phrase', words });
};
