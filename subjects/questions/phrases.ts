/** Matches phrases of the question language at a position of a question, the longest first */
import type { Mark, Operator } from './marks.ts';
import { operators, type Vocabulary } from './vocabulary.ts';
import type { Word } from './words.ts';

const maxWords = 5;

const findLongestMatch = <Value>(
  words: readonly Word[],
  position: number,
  phrases: ReadonlyMap<string, Value>,
): [number, Value] | undefined => {
  for (let length = Math.min(maxWords, words.length - position); length > 0; length--) {
    // "Orders by venue" are orders, not "order by".
    const stems = words
      .slice(position, position + length)
      .map(({ stem, lower }, index) => (index === 0 && length > 1 && lower === 'orders' ? lower : stem));
    const value = phrases.get(stems.join(' '));
    if (value !== undefined) return [length, value];
  }
  return undefined;
};

export const matchPhrase = (
  words: readonly Word[],
  position: number,
  vocabulary: Vocabulary,
): { readonly words: number; readonly mark: Mark } | undefined => {
  const match = findLongestMatch(words, position, vocabulary);
  return match && { words: match[0], mark: match[1] };
};

export const matchOperator = (
  words: readonly Word[],
  position: number,
): { readonly words: number; readonly operator: Operator } | undefined => {
  const match = findLongestMatch(words, position, operators);
  return match && { words: match[0], operator: match[1] };
};
