/** Matches phrases of the language at positions of a question, the longest first */
import type { Mark, Operator } from './marks.ts';
import { operators, type Vocabulary } from './vocabulary.ts';
import type { Word } from './words.ts';

const maxWords = 5;

const findLongestMatch = <Value>(
  words: readonly Word[],
  at: number,
  phrases: ReadonlyMap<string, Value>,
): [number, Value] | undefined => {
  for (let length = Math.min(maxWords, words.length - at); length > 0; length--) {
    const stems = words.slice(at, at + length).map(({ stem }) => stem);
    const found = phrases.get(stems.join(' '));
    if (found !== undefined) return [length, found];
  }
  return undefined;
};

export const matchPhrase = (
  words: readonly Word[],
  at: number,
  vocabulary: Vocabulary,
): { readonly words: number; readonly mark: Mark } | undefined => {
  const found = findLongestMatch(words, at, vocabulary);
  return found && { words: found[0], mark: found[1] };
};

export const matchOperator = (
  words: readonly Word[],
  at: number,
): { readonly words: number; readonly operator: Operator } | undefined => {
  const found = findLongestMatch(words, at, operators);
  return found && { words: found[0], operator: found[1] };
};
