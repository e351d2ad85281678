/** Verifies sentences of a model against the passages that they cite */
import type { FoundPassage } from './passage-index.ts';
import type { CitedSentence } from './sentences.ts';
import { toStems } from './words.ts';

export interface ModelSentence {
  readonly text: string;
  /** Indexes in the list of passages */
  readonly sources: readonly number[];
}

export interface CheckedSentences {
  readonly sentences: readonly CitedSentence[];
  readonly excludedCount: number;
}

/** Minimum share of a sentence's words that its passages must contain */
const minWordShare = 0.6;
const numberPattern = /\d+(?:[.,]\d+)*/g;
const codePattern = /`([^`]{1,500})`/g;
const linkPattern = /\bhttps?:|\bwww\.|\]\(|javascript:/i;

const extractNumbers = (text: string): Set<string> => new Set(text.match(numberPattern) ?? []);

/**
 * Returns whether the passages support a text: they contain each number and piece of code verbatim, and most of its
 * words. The text must not contain links, which only come from sources.
 */
const isSupported = (text: string, sources: readonly string[]): boolean => {
  if (linkPattern.test(text)) return false;
  const source = sources.join('\n');
  const sourceNumbers = extractNumbers(source);
  if (![...extractNumbers(text)].every((number) => sourceNumbers.has(number))) return false;
  if (![...text.matchAll(codePattern)].every(([, code = '']) => source.includes(code))) return false;
  const stems = [...toStems(text)];
  const sourceStems = toStems(source);
  return stems.length > 0 && stems.filter((stem) => sourceStems.has(stem)).length >= minWordShare * stems.length;
};

/** Returns sentences whose cited passages support them; others are omitted and counted. */
export const checkSentences = (
  modelSentences: readonly ModelSentence[],
  passages: readonly FoundPassage[],
): CheckedSentences => {
  const sentences = modelSentences.flatMap(({ text, sources }): CitedSentence[] => {
    const citedIndexes = [...new Set(sources)].filter((passageIndex) => passages[passageIndex] !== undefined);
    const sourceTexts = citedIndexes.flatMap((passageIndex) => {
      const passage = passages[passageIndex];
      return passage === undefined ? [] : [[passage.origin.title, ...passage.headings, passage.text].join('\n')];
    });
    return sourceTexts.length > 0 && isSupported(text, sourceTexts)
      ? [{ text: text.trim(), passages: citedIndexes }]
      : [];
  });
  return { sentences, excludedCount: modelSentences.length - sentences.length };
};
