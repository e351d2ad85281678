/**
 * Finds words, phrases and patterns in the texts of streamed records, with the same results as ClickHouse's tokens and
 * `queries/search/condition.ts`.
 */
import type { PatternPieces, WordTest } from './tree.ts';

/**
 * Returns whether a character code is an ASCII letter or digit, or a non-ASCII character, including surrogate halves.
 * False for NaN, the code beyond either end of a text.
 */
const isLetter = (code: number): boolean =>
  code >= 0x80 || (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a);

const isWordBoundary = (text: string, at: number): boolean => !isLetter(text.charCodeAt(at));

/** Returns whether a text, in the form of words, contains a word. */
export const hasWord = (text: string, word: string): boolean => {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (isWordBoundary(text, at - 1) && isWordBoundary(text, at + word.length)) return true;
  return false;
};

/** Returns whether the words follow each other from `at`, separated by non-letters. */
const hasWordsAt = (text: string, words: readonly string[], at: number): boolean => {
  let end = at;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string;
    if (!text.startsWith(word, end)) return false;
    end += word.length;
    if (!isWordBoundary(text, end)) return false;
    if (index < words.length - 1) while (end < text.length && isWordBoundary(text, end)) end++;
  }
  return true;
};

const hasPhrase = (text: string, words: readonly string[]): boolean => {
  const [first = ''] = words;
  for (let at = text.indexOf(first); at >= 0; at = text.indexOf(first, at + 1))
    if (isWordBoundary(text, at - 1) && hasWordsAt(text, words, at)) return true;
  return false;
};

/**
 * Returns whether a text begins with the first piece, contains the others in order and ends with the last one. It is
 * sufficient to look for the first occurrence of each piece.
 */
export const matchesPattern = (text: string, pieces: PatternPieces): boolean => {
  const [first = ''] = pieces;
  const last = pieces.at(-1) as string;
  const end = text.length - last.length;
  if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (let index = 1; index < pieces.length - 1; index++) {
    const piece = pieces[index] as string;
    const pieceIndex = text.indexOf(piece, at);
    if (pieceIndex < 0 || pieceIndex + piece.length > end) return false;
    at = pieceIndex + piece.length;
  }
  return true;
};

const hasMatchingWord = (text: string, pieces: PatternPieces): boolean => {
  const longestPiece = pieces.reduce((one, other) => (other.length > one.length ? other : one));
  if (!text.includes(longestPiece)) return false;
  for (let start = 0; start < text.length; ) {
    if (isWordBoundary(text, start)) {
      start++;
      continue;
    }
    let end = start + 1;
    while (!isWordBoundary(text, end)) end++;
    if (matchesPattern(text.slice(start, end), pieces)) return true;
    start = end;
  }
  return false;
};

/** Returns a test of a text in the form of words. */
export const buildWordTest = (test: Extract<WordTest, { is: 'phrase' | 'pattern' }>): ((text: string) => boolean) =>
  test.is === 'phrase' ? (text) => hasPhrase(text, test.words) : (text) => hasMatchingWord(text, test.pieces);
