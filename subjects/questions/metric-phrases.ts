/** Finds the metrics that a question names */
import type { CatalogueMetric } from './catalogue.ts';
import { genericWords } from './vocabulary.ts';
import { splitNameStems, type Word } from './words.ts';

/** Words of a question, and the metrics that they may name */
export interface MetricPhrase {
  readonly position: number;
  readonly words: number;
  readonly metrics: readonly CatalogueMetric[];
}

const maxWords = 8;
/** Words that may occur between those of a name: "tickets that were sold", "messages in the queue" */
const fillerWords: ReadonlySet<string> = new Set([
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
};
const toCanonicalWord = (part: string): string => {
  const word = canonicalForms[part] ?? part;
  // "Delivered" also matches "did we deliver".
  return word.length > 6 && word.endsWith('ed') ? word.slice(0, -2) : word;
};

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

const getWordParts = ({ is, text }: Word): string[] => (is === 'word' ? splitNameStems(text).map(toCanonicalWord) : []);

/** Index of metrics by the words of their names */
export class MetricIndex {
  readonly #byWord = new Map<string, IndexedMetric[]>();
  readonly #byName = new Map<string, CatalogueMetric>();

  constructor(metrics: readonly CatalogueMetric[]) {
    for (const metric of metrics) {
      this.#byName.set(metric.name.toLowerCase(), metric);
      const parts = splitNameStems(metric.name).map(toCanonicalWord);
      const head = parts.findLast((part) => !unitWords.has(part)) ?? '';
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
    let best: (MetricPhrase & { readonly parts: number }) | undefined;
    for (const position of words.keys()) {
      const found = this.#phraseAt(words, position, candidatesByKey);
      if (found !== undefined && found.parts > (best?.parts ?? 0)) best = found;
    }
    return best;
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
  if ([...queryParts].every((part) => genericWords.has(part))) return [];
  const suffixMatches = candidates.filter(({ head }) => queryParts.has(head));
  return (suffixMatches.length > 0 ? suffixMatches : candidates).map(({ metric }) => metric);
};
