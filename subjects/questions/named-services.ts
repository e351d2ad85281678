/** Services that a question names, completely or by a part of their name */
import type { Catalogue } from './catalogue.ts';
import { genericWords } from './vocabulary.ts';
import type { Word } from './words.ts';

const splitName = (name: string): string[] =>
  name
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '');

const includesParts = (words: readonly string[], parts: readonly string[]): boolean =>
  parts.length > 0 && words.some((_, start) => parts.every((part, index) => words[start + index] === part));

/** Returns whether a word of a question is a part of the name of a service. */
export const isPartOfService = ({ lower }: Word, service: string): boolean =>
  includesParts(splitName(service), splitName(lower.replace(/['’]s$/, '')));

/** Returns the name without its namespace: `checkout` for `shop/checkout`. */
const toShortName = (service: string): string => service.slice(service.lastIndexOf('/') + 1);

const findLongest = (services: readonly string[]): string | null => {
  const [longest, second] = services.toSorted((left, right) => right.length - left.length);
  return longest === undefined || second?.length === longest.length ? null : longest;
};

const minPartLength = 4;
/** Parts that many services have */
const commonParts: ReadonlySet<string> = new Set(
  'gateway proxy worker backend frontend engine store bridge manager database cache queue main core cluster node web app'.split(
    ' ',
  ),
);

/**
 * Returns the services by the parts with which their names begin or end, if no other service has the part: `pharmacy`
 * and `rider app` for pharmacy-orders and rider-app-bff.
 */
export const listServiceParts = (services: readonly string[]): ReadonlyMap<string, string> => {
  const byPart = new Map<string, string | undefined>();
  for (const service of services) {
    const parts = splitName(toShortName(service));
    const forms = parts.flatMap((_, index) =>
      index === 0 ? [] : [parts.slice(0, index).join(' '), parts.slice(index).join(' ')],
    );
    for (const form of new Set(forms)) byPart.set(form, byPart.has(form) ? undefined : service);
  }
  return new Map(
    [...byPart].flatMap(([form, service]): [string, string][] =>
      service === undefined || form.length < minPartLength || commonParts.has(form) || genericWords.has(form)
        ? []
        : [[form, service]],
    ),
  );
};

/**
 * Returns the known service whose name is in the question, with or without its namespace, or a part of its name;
 * `null` if there is none, or if several are equally likely.
 */
export const findNamedService = (questionWords: readonly Word[], catalogue: Catalogue): string | null => {
  const words = questionWords.flatMap(({ lower }) => splitName(lower.replace(/['’]s$/, '')));
  const services = [...new Set([...catalogue.traces.services, ...catalogue.logs.services])];
  const isNamed = (name: string): boolean => includesParts(words, splitName(name));
  const complete =
    findLongest(services.filter(isNamed)) ?? findLongest(services.filter((service) => isNamed(toShortName(service))));
  if (complete !== null) return complete;
  const named = new Set([...listServiceParts(services)].flatMap(([form, service]) => (isNamed(form) ? [service] : [])));
  return named.size === 1 ? ([...named][0] ?? null) : null;
};
