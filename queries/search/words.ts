/** Words, phrases and patterns in texts: what the engine's tokens and `queries/search/condition.ts` answer, for records in process. */
import { lowered } from '../../schemas/tables/search.ts';
import type { Pieces, WordTest } from './tree.ts';

/** Letters and digits of ASCII, and every other character; halves of pairs of UTF-16 are such too. NaN beyond the ends is none. */
const isLetter = (code: number): boolean =>
  code >= 0x80 || (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a);

const isEdge = (text: string, at: number): boolean => !isLetter(text.charCodeAt(at));

/** A text in lower case of ASCII. What is ASCII alone takes the built-in way, which is several times faster. */
export const loweredText = (text: string): string => (/[^\0-\x7f]/.test(text) ? lowered(text) : text.toLowerCase());

/** Whether a text in lower case has a word. */
export const hasWord = (text: string, word: string): boolean => {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (isEdge(text, at - 1) && isEdge(text, at + word.length)) return true;
  return false;
};

/** Whether the words follow each other from `at`, with characters that are no letters between them. */
const goesOn = (text: string, words: readonly string[], at: number): boolean => {
  let end = at;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string;
    if (!text.startsWith(word, end)) return false;
    end += word.length;
    if (!isEdge(text, end)) return false;
    if (index < words.length - 1) while (end < text.length && isEdge(text, end)) end++;
  }
  return true;
};

const hasPhrase = (text: string, words: readonly string[]): boolean => {
  const [first = ''] = words;
  for (let at = text.indexOf(first); at >= 0; at = text.indexOf(first, at + 1))
    if (isEdge(text, at - 1) && goesOn(text, words, at)) return true;
  return false;
};

/** Whether a text begins with the first piece, has the others in order and ends with the last. The first place of each is the best. */
export const fits = (text: string, pieces: Pieces): boolean => {
  const [first = ''] = pieces;
  const last = pieces.at(-1) as string;
  const end = text.length - last.length;
  if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (let index = 1; index < pieces.length - 1; index++) {
    const piece = pieces[index] as string;
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
};

const hasWordLike = (text: string, pieces: Pieces): boolean => {
  const longest = pieces.reduce((one, other) => (other.length > one.length ? other : one));
  if (!text.includes(longest)) return false;
  for (let start = 0; start < text.length; ) {
    if (isEdge(text, start)) {
      start++;
      continue;
    }
    let end = start + 1;
    while (!isEdge(text, end)) end++;
    if (fits(text.slice(start, end), pieces)) return true;
    start = end;
  }
  return false;
};

/** A test of a text in lower case; `regex` tests are of texts as they are and not for this. */
export const wordTest = (test: Exclude<WordTest, { is: 'regex' | 'words' }>): ((text: string) => boolean) =>
  test.is === 'phrase' ? (text) => hasPhrase(text, test.words) : (text) => hasWordLike(text, test.pieces);
