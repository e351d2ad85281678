/** Service that a question names */
import type { Catalogue } from './catalogue.ts';
import type { Word } from './words.ts';

const splitName = (name: string): string[] =>
  name
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '');

const contains = (words: readonly string[], parts: readonly string[]): boolean =>
  parts.length > 0 && words.some((_, start) => parts.every((part, index) => words[start + index] === part));

/** Returns the known service whose name is in the question, the longest one if there are several; `null` if there is none. */
export const findNamedService = (questionWords: readonly Word[], catalogue: Catalogue): string | null => {
  const words = questionWords.flatMap(({ lower }) => splitName(lower.replace(/['’]s$/, '')));
  const named = [...new Set([...catalogue.traces.services, ...catalogue.logs.services])].filter((service) =>
    contains(words, splitName(service)),
  );
  return named.toSorted((left, right) => right.length - left.length)[0] ?? null;
};
