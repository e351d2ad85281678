/** Finds the metrics that a question names */
import { getQuantities } from './adjectives.ts';
import type { CatalogueMetric } from './catalogue.ts';
import { genericWords } from './vocabulary.ts';
import { splitNameStems, toRoot, type Word } from './words.ts';

/** Part of the question that names the metric */
export interface Phrase {
  readonly position: number;
  readonly words: number;
}

/** Words of a question, and the metrics that they may name */
export interface MetricPhrase extends Phrase {
  readonly metrics: readonly CatalogueMetric[];
}

const maxWords = 8;
/** Words that may occur between those of a name: "tickets that were sold", "messages in the queue" */
export const fillerWords: ReadonlySet<string> = new Set([
  'of',
  'in',
  'at',
  'on',
  'for',
  'the',
  'was',
  'were',
  'are',
  'is',
  'that',
  'been',
  'have',
  'got',
  'did',
  'do',
  'we',
  'you',
  'they',
  'collection',
]);

/** Canonical form of words that are synonyms in metric names */
const canonicalForms: Readonly<Record<string, string>> = {
  utilization: 'usage',
  utilisation: 'usage',
  used: 'usage',
  use: 'usage',
  processor: 'cpu',
  ram: 'memory',
  mem: 'memory',
  disk: 'filesystem',
  count: 'number',
  latency: 'duration',
  time: 'duration',
  available: 'free',
  avail: 'free',
  backlog: 'lag',
  temp: 'temperature',
  traffic: 'io',
  space: 'filesystem',
  garbage: 'gc',
};
/** "Delivered" also matches "did we deliver", and "received" "did we receive". */
const toCanonicalWord = (part: string): string => toRoot(canonicalForms[part] ?? part);
const canonicalGenericWords: ReadonlySet<string> = new Set([...genericWords].map(toCanonicalWord));
/** "How long does a transfer take", but not "how long is the queue" */
const canonicalDuration = toCanonicalWord('duration');
const durationQuestion = / how (?:long|slow|fast|much time) (?!is |are |was |were )/;
const timeUnit = /^(?:ns|us|µs|ms|s|min|h|seconds?|milliseconds?)$/;
const isDuration = ({ name, unit }: CatalogueMetric): boolean =>
  timeUnit.test(unit) || splitNameStems(name).some((part) => toCanonicalWord(part) === canonicalDuration);

/** Suffixes that denote a unit or form, not the measured quantity */
const unitWords: ReadonlySet<string> = new Set([
  'total',
  'second',
  'byte',
  'ratio',
  'bucket',
  'sum',
  'millisecond',
  'percent',
  'minute',
]);

interface IndexedMetric {
  readonly metric: CatalogueMetric;
  readonly parts: ReadonlySet<string>;
  readonly head: string;
}

/**
 * Returns the number of words at a position that are a part of the name of a metric: "consumer group" is one part of
 * `kafka_consumergroup_lag`.
 */
export const countMetricWords = (words: readonly Word[], position: number, { name }: CatalogueMetric): number => {
  const nameParts = new Set(splitNameStems(name).map(toCanonicalWord));
  const [first, second] = words.slice(position, position + 2);
  const parts = first === undefined ? [] : getWordParts(first);
  if (parts.length > 0 && parts.every((part) => nameParts.has(part))) return 1;
  return second !== undefined && nameParts.has(toCanonicalWord(`${first?.lower}${second.stem}`)) ? 2 : 0;
};

const getWordParts = ({ is, text }: Word): string[] => (is === 'word' ? splitNameStems(text).map(toCanonicalWord) : []);

/** "The largest claim" is one claim, and not the largest number of claims in `claims.open`. */
const isSingleItem = (words: readonly Word[], { position, words: length, metrics }: MetricPhrase): boolean =>
  length === 1 &&
  /^(?:largest|biggest|smallest)$/.test(words[position - 1]?.lower ?? '') &&
  metrics.every(({ unit }) => unit === `{${words[position]?.lower}}`);

/** "Which bus has the lowest battery" is about `bus.battery.level` for each bus. */
const isGroupOnly = (words: readonly Word[], { position, words: length }: MetricPhrase): boolean =>
  length === 1 && /^(?:which|per|each)$/.test(words[position - 1]?.lower ?? '');

/** "Pods that restarted" is about the restarts of each pod. */
const isSubject = (words: readonly Word[], { position, words: length }: MetricPhrase): boolean =>
  length === 1 && /^(?:that|which|with|whose|where)$/.test(words[position + 1]?.lower ?? '');

/** "Free memory" is about memory, and not about `spots.free`; "open claims" are `claims.open`. */
const isState = (
  words: readonly Word[],
  { position, words: length, metrics }: MetricPhrase,
  phrases: readonly MetricPhrase[],
): boolean =>
  length === 1 &&
  /^(?:free|used|available|active|open|idle|total)$/.test(words[position]?.lower ?? '') &&
  !phrases.some((other) => other.position !== position && other.metrics.some((metric) => metrics.includes(metric)));

/** Index of metrics by the words of their names */
export class MetricIndex {
  readonly #byWord = new Map<string, IndexedMetric[]>();
  readonly #byName = new Map<string, CatalogueMetric>();

  constructor(metrics: readonly CatalogueMetric[]) {
    for (const metric of metrics) {
      this.#byName.set(metric.name.toLowerCase(), metric);
      const parts = splitNameStems(metric.name).map(toCanonicalWord);
      const head = parts.findLast((part) => !unitWords.has(part) && part !== 'usage') ?? '';
      const indexedMetric = { metric, parts: new Set(parts), head };
      for (const part of indexedMetric.parts) {
        const metricsOfPart = this.#byWord.get(part) ?? [];
        this.#byWord.set(part, metricsOfPart);
        metricsOfPart.push(indexedMetric);
      }
    }
  }

  /** Yields words as they occur in names, and as they are matched. */
  *words(): Iterable<string> {
    yield* this.#byWord.keys();
    for (const name of this.#byName.keys()) yield* splitNameStems(name);
  }

  /** Returns the phrase of the question that names a metric with the most words; `undefined` if there is none. */
  findPhrase(words: readonly Word[]): MetricPhrase | undefined {
    const candidatesByKey = new Map<string, readonly IndexedMetric[]>();
    const phrases = [...words.keys()].flatMap((position) => {
      const found = this.#phraseAt(words, position, candidatesByKey);
      return found === undefined || isSingleItem(words, found) || isGroupOnly(words, found) ? [] : [found];
    });
    // Of two phrases, the one after "pods that" names the metric.
    const getScore = (phrase: (typeof phrases)[number]): number =>
      phrase.parts - (isSubject(words, phrase) || isState(words, phrase, phrases) ? 0.5 : 0);
    const best: MetricPhrase | undefined = phrases.toSorted((left, right) => getScore(right) - getScore(left))[0];
    if (best === undefined) return this.#findDescribed(words);
    if (!durationQuestion.test(` ${words.map(({ lower }) => lower).join(' ')} `)) return best;
    const durations = best.metrics.filter(isDuration);
    return durations.length === 0 ? undefined : { ...best, metrics: durations };
  }

  /**
   * Returns the metrics that an adjective describes: temperatures for "hotter than 60 degrees", and of these the ones
   * that share the most words with the question. No word of the question is their name.
   */
  #findDescribed(words: readonly Word[]): MetricPhrase | undefined {
    const quantities = words.flatMap(({ lower }) => getQuantities(lower).map(toCanonicalWord));
    const described = [...new Set(quantities.flatMap((quantity) => this.#byWord.get(quantity) ?? []))];
    const stems = new Set(words.flatMap(getWordParts));
    const countShared = ({ parts }: IndexedMetric): number => [...parts].filter((part) => stems.has(part)).length;
    const most = Math.max(0, ...described.map(countShared));
    const metrics = described.filter((indexed) => countShared(indexed) === most).map(({ metric }) => metric);
    return metrics.length === 0 ? undefined : { position: -1, words: 0, metrics };
  }

  /** `candidatesByKey` caches the candidates within one question, so repeated words are resolved once. */
  #phraseAt(
    words: readonly Word[],
    position: number,
    candidatesByKey: Map<string, readonly IndexedMetric[]>,
  ): (MetricPhrase & { readonly parts: number }) | undefined {
    const namedMetric = this.#byName.get(words[position]?.lower ?? '');
    if (namedMetric !== undefined)
      return { position, words: 1, metrics: [namedMetric], parts: Number.POSITIVE_INFINITY };
    const queryParts = new Set<string>();
    const writtenParts = new Set<string>();
    let candidates: readonly IndexedMetric[] | undefined;
    let length = 0;
    for (const [offset, word] of words.slice(position, position + maxWords).entries()) {
      if (offset > 0 && fillerWords.has(word.lower)) continue;
      const parts = getWordParts(word);
      const key = [...queryParts, ...parts].join(' ');
      const narrowed = candidatesByKey.get(key) ?? this.#narrow(candidates, parts);
      candidatesByKey.set(key, narrowed);
      if (narrowed.length === 0) break;
      candidates = narrowed;
      for (const part of parts) queryParts.add(part);
      for (const part of splitNameStems(word.text)) writtenParts.add(part);
      length = offset + 1;
    }
    const metrics = selectMostCertain(candidates ?? [], queryParts, writtenParts);
    return metrics.length === 0 ? undefined : { position, words: length, metrics, parts: queryParts.size };
  }

  #narrow(candidates: readonly IndexedMetric[] | undefined, parts: readonly string[]): readonly IndexedMetric[] {
    const remaining = candidates ?? this.#byWord.get(parts[0] ?? '') ?? [];
    return parts.length === 0
      ? []
      : remaining.filter((indexedMetric) => parts.every((part) => indexedMetric.parts.has(part)));
  }
}

/**
 * Returns metrics with exactly the name; otherwise those that end with it; otherwise those with all of the words.
 * Generic words alone name no metric.
 */
const selectMostCertain = (
  all: readonly IndexedMetric[],
  queryParts: ReadonlySet<string>,
  writtenParts: ReadonlySet<string>,
): CatalogueMetric[] => {
  // Names with the exact words have precedence over those with synonyms.
  const literalMatches = all.filter(
    ({ metric }) => splitNameStems(metric.name).filter((part) => writtenParts.has(part)).length === writtenParts.size,
  );
  const candidates = literalMatches.length > 0 ? literalMatches : all;
  const exactMatches = candidates.filter(({ parts }) =>
    [...parts].every((part) => queryParts.has(part) || unitWords.has(part)),
  );
  if (exactMatches.length > 0) return exactMatches.map(({ metric }) => metric);
  if ([...queryParts].every((part) => canonicalGenericWords.has(part) || fillerWords.has(part))) return [];
  const suffixMatches = candidates.filter(({ head }) => queryParts.has(head));
  return (suffixMatches.length > 0 ? suffixMatches : candidates).map(({ metric }) => metric);
};
