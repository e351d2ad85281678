/** Verifies sentences of a model against the passages that they cite */
import type { FoundPassage } from './passage-index.ts';
import type { CitedSentence } from './sentences.ts';
import { stemsOf } from './words.ts';

export interface WrittenSentence {
  readonly text: string;
  /** Indexes in the list of passages */
  readonly sources: readonly number[];
}

export interface CheckedSentences {
  readonly sentences: readonly CitedSentence[];
  readonly excluded: number;
}

/** Minimum share of a sentence's words that its passages must contain */
const minWordShare = 0.6;
const numberPattern = /\d+(?:[.,]\d+)*/g;
const codePattern = /`([^`]{1,500})`/g;
const linkPattern = /\bhttps?:|\bwww\.|\]\(|javascript:/i;

const numbersIn = (text: string): Set<string> => new Set(text.match(numberPattern) ?? []);

/**
 * Returns whether the passages support a text: they contain each number and piece of code verbatim, and most of its
 * words. The text must not contain links, which only come from sources.
 */
const isSupported = (text: string, sources: readonly string[]): boolean => {
  if (linkPattern.test(text)) return false;
  const source = sources.join('\n');
  const known = numbersIn(source);
  if (![...numbersIn(text)].every((number) => known.has(number))) return false;
  if (![...text.matchAll(codePattern)].every(([, piece = '']) => source.includes(piece))) return false;
  const stems = [...stemsOf(text)];
  const sourceStems = stemsOf(source);
  return stems.length > 0 && stems.filter((stem) => sourceStems.has(stem)).length >= minWordShare * stems.length;
};

/** Returns sentences whose cited passages support them; others are omitted and counted. */
export const checkSentences = (
  written: readonly WrittenSentence[],
  passages: readonly FoundPassage[],
): CheckedSentences => {
  const sentences = written.flatMap(({ text, sources }): CitedSentence[] => {
    const cited = [...new Set(sources)].filter((place) => passages[place] !== undefined);
    const sourceTexts = cited.flatMap((place) => {
      const passage = passages[place];
      return passage === undefined ? [] : [[passage.origin.title, ...passage.headings, passage.text].join('\n')];
    });
    return sourceTexts.length > 0 && isSupported(text, sourceTexts) ? [{ text: text.trim(), passages: cited }] : [];
  });
  return { sentences, excluded: written.length - sentences.length };
};
