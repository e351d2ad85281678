/** Services that a question names */
import type { Catalogue } from './catalogue.ts';
import type { Word } from './words.ts';

const splitName = (name: string): string[] =>
  name
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '');

const includesParts = (words: readonly string[], parts: readonly string[]): boolean =>
  parts.length > 0 && words.some((_, start) => parts.every((part, index) => words[start + index] === part));

/** Returns the name without its namespace: `checkout` for `shop/checkout`. */
const toShortName = (service: string): string => service.slice(service.lastIndexOf('/') + 1);

const findLongest = (services: readonly string[]): string | null => {
  const [longest, second] = services.toSorted((left, right) => right.length - left.length);
  return longest === undefined || second?.length === longest.length ? null : longest;
};

/**
 * Returns the known service whose name is in the question, with or without its namespace; `null` if there is none, or if
 * several are equally likely.
 */
export const findNamedService = (questionWords: readonly Word[], catalogue: Catalogue): string | null => {
  const words = questionWords.flatMap(({ lower }) => splitName(lower.replace(/['’]s$/, '')));
  const services = [...new Set([...catalogue.traces.services, ...catalogue.logs.services])];
  const isNamed = (name: string): boolean => includesParts(words, splitName(name));
  return (
    findLongest(services.filter(isNamed)) ?? findLongest(services.filter((service) => isNamed(toShortName(service))))
  );
};
