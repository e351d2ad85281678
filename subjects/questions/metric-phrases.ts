/** Finds the metrics that a question names */
import type { KnownMetric } from './catalogue.ts';
import { genericWords } from './vocabulary.ts';
import { nameStems, type Word } from './words.ts';

/** Words of a question, and the metrics that they may name */
export interface MetricPhrase {
  readonly at: number;
  readonly words: number;
  readonly metrics: readonly KnownMetric[];
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
const canonical: Readonly<Record<string, string>> = {
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
const canonicalWord = (part: string): string => {
  const word = canonical[part] ?? part;
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
  readonly metric: KnownMetric;
  readonly parts: ReadonlySet<string>;
  readonly head: string;
}

const wordParts = ({ is, text }: Word): string[] => (is === 'word' ? nameStems(text).map(canonicalWord) : []);

/** Index of metrics by the words of their names */
export class MetricIndex {
  readonly #byWord = new Map<string, IndexedMetric[]>();
  readonly #byName = new Map<string, KnownMetric>();

  constructor(metrics: readonly KnownMetric[]) {
    for (const metric of metrics) {
      this.#byName.set(metric.name.toLowerCase(), metric);
      const parts = nameStems(metric.name).map(canonicalWord);
      const head = parts.findLast((part) => !unitWords.has(part)) ?? '';
      const measured = { metric, parts: new Set(parts), head };
      for (const part of measured.parts) {
        const known = this.#byWord.get(part) ?? [];
        this.#byWord.set(part, known);
        known.push(measured);
      }
    }
  }

  /** Yields words as they occur in names, and as they are matched. */
  *words(): Iterable<string> {
    yield* this.#byWord.keys();
    for (const name of this.#byName.keys()) yield* nameStems(name);
  }

  /** Returns the phrase of the question that names a metric with the most words; `undefined` if there is none. */
  findPhrase(words: readonly Word[]): MetricPhrase | undefined {
    const narrowed = new Map<string, readonly IndexedMetric[]>();
    let best: (MetricPhrase & { readonly parts: number }) | undefined;
    for (const at of words.keys()) {
      const found = this.#phraseAt(words, at, narrowed);
      if (found !== undefined && found.parts > (best?.parts ?? 0)) best = found;
    }
    return best;
  }

  /** `known` caches the candidates of one question, so that repeated words cost nothing. */
  #phraseAt(
    words: readonly Word[],
    at: number,
    known: Map<string, readonly IndexedMetric[]>,
  ): (MetricPhrase & { readonly parts: number }) | undefined {
    const named = this.#byName.get(words[at]?.lower ?? '');
    if (named !== undefined) return { at, words: 1, metrics: [named], parts: Number.POSITIVE_INFINITY };
    const queryParts = new Set<string>();
    const writtenParts = new Set<string>();
    let candidates: readonly IndexedMetric[] | undefined;
    let length = 0;
    for (const [place, word] of words.slice(at, at + maxWords).entries()) {
      if (place > 0 && fillerWords.has(word.lower)) continue;
      const parts = wordParts(word);
      const key = [...queryParts, ...parts].join(' ');
      const narrowed = known.get(key) ?? this.#narrow(candidates, parts);
      known.set(key, narrowed);
      if (narrowed.length === 0) break;
      candidates = narrowed;
      for (const part of parts) queryParts.add(part);
      for (const part of nameStems(word.text)) writtenParts.add(part);
      length = place + 1;
    }
    const metrics = selectSurest(candidates ?? [], queryParts, writtenParts);
    return metrics.length === 0 ? undefined : { at, words: length, metrics, parts: queryParts.size };
  }

  #narrow(candidates: readonly IndexedMetric[] | undefined, parts: readonly string[]): readonly IndexedMetric[] {
    const among = candidates ?? this.#byWord.get(parts[0] ?? '') ?? [];
    return parts.length === 0 ? [] : among.filter((each) => parts.every((part) => each.parts.has(part)));
  }
}

/**
 * Returns metrics with exactly the name; otherwise those that end with it; otherwise those with all of the words.
 * Generic words alone name no metric.
 */
const selectSurest = (
  all: readonly IndexedMetric[],
  queryParts: ReadonlySet<string>,
  written: ReadonlySet<string>,
): KnownMetric[] => {
  // Names with the exact words have precedence over those with synonyms.
  const literal = all.filter(
    ({ metric }) => nameStems(metric.name).filter((part) => written.has(part)).length === written.size,
  );
  const candidates = literal.length > 0 ? literal : all;
  const equal = candidates.filter(({ parts }) =>
    [...parts].every((part) => queryParts.has(part) || unitWords.has(part)),
  );
  if (equal.length > 0) return equal.map(({ metric }) => metric);
  if ([...queryParts].every((part) => genericWords.has(part))) return [];
  const ending = candidates.filter(({ head }) => queryParts.has(head));
  return (ending.length > 0 ? ending : candidates).map(({ metric }) => metric);
};
