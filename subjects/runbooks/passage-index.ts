/** Finds passages by their words, with BM25 over titles, headings and texts, and by their similarity to a question */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import MiniSearch from 'minisearch';
import type { Query } from '../../queries/query.ts';
import type { Passage } from './passages.ts';
import { splitSearchWords, toStem } from './words.ts';

export const sources = ['document', 'incident', 'rule', 'log-pattern', 'handbook'] as const;
export type Source = (typeof sources)[number];

/** A source of passages, such as a document or incident */
export interface PassageSource {
  readonly source: Source;
  /** Id of the document, incident, rule or pattern; for the handbook, a path */
  readonly id: string;
  readonly title: string;
  /** URL for people; empty if unknown */
  readonly url: string;
  readonly passages: readonly Passage[];
  /** Query of the source itself, such as that of a rule */
  readonly query?: Query | undefined;
}

export interface SearchOptions {
  readonly from: ReadonlySet<Source>;
  readonly limit: number;
  /** Returns the similarity of the question to user-written text (`writtenTexts`); `undefined` if unknown */
  readonly similarity?: (text: string) => number | undefined;
}

export interface FoundPassage {
  readonly origin: Omit<PassageSource, 'passages'>;
  /** Index in its source, from 0 */
  readonly nth: number;
  readonly headings: readonly string[];
  readonly text: string;
  readonly score: number;
}

/**
 * Weights of passages by source. Instructions that people wrote have precedence over texts with the same words: texts
 * of a rule are those of its alerts.
 */
const weights: Readonly<Record<Source, number>> = {
  document: 1,
  incident: 0.6,
  handbook: 0.3,
  rule: 0.3,
  'log-pattern': 0.3,
};

/** Maximum number of words of a question that are searched */
const maxWords = 200;
/** Number of passages to index before yielding to the event loop */
const batchSize = 20;

/** Sources that people write, unlike telemetry or rules */
const userWrittenSources: ReadonlySet<Source> = new Set<Source>(['document', 'incident']);
/** Maximum number of passages that are found by similarity alone */
const maxSimilarPassages = 10;
/** Constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009) */
const rankOffset = 60;

interface Entry {
  readonly id: string;
  readonly source: Source;
  readonly title: string;
  readonly headings: string;
  readonly text: string;
}

/** Index of passages. Each source is identified by a key, which changes with its content. */
export class PassageIndex {
  readonly #sources = new Map<string, PassageSource>();
  readonly #search = new MiniSearch<Entry>({
    fields: ['title', 'headings', 'text'],
    storeFields: ['source'],
    tokenize: splitSearchWords,
    processTerm: toStem,
    autoVacuum: { batchSize: 200, batchWait: 5, minDirtCount: 200, minDirtFactor: 0.1 },
  });

  has(key: string): boolean {
    return this.#sources.has(key);
  }

  keys(): Iterable<string> {
    return this.#sources.keys();
  }

  /** Number of passages of all sources */
  get passages(): number {
    return this.#search.documentCount;
  }

  async add(key: string, passageSource: PassageSource): Promise<void> {
    if (this.#sources.has(key)) return;
    this.#sources.set(key, passageSource);
    for (const [nth, { headings, text }] of passageSource.passages.entries()) {
      if (nth > 0 && nth % batchSize === 0) await yieldToEventLoop();
      // The source was removed in the meantime.
      if (this.#sources.get(key) !== passageSource) return;
      const { source, title } = passageSource;
      this.#search.add({ id: `${nth} ${key}`, source, title, headings: headings.join('\n'), text });
    }
  }

  remove(key: string): void {
    const passageSource = this.#sources.get(key);
    this.#sources.delete(key);
    for (const nth of passageSource?.passages.keys() ?? []) {
      const id = `${nth} ${key}`;
      if (this.#search.has(id)) this.#search.discard(id);
    }
  }

  /** Yields the texts from which vectors are computed: user-written passages with their headings. */
  *writtenTexts(from: ReadonlySet<Source>): Iterable<string> {
    for (const { text } of this.#writtenPassages(from)) yield text;
  }

  *#writtenPassages(from: ReadonlySet<Source>): Iterable<{ readonly id: string; readonly text: string }> {
    for (const [key, { source, title, passages }] of this.#sources)
      if (userWrittenSources.has(source) && from.has(source))
        for (const [nth, { headings, text }] of passages.entries())
          yield { id: `${nth} ${key}`, text: [title, ...headings, text].join('\n') };
  }

  /**
   * Returns the best matches first; equal scores are ordered by position. Without similarity, scores are those of BM25,
   * otherwise those of the combined ranks.
   */
  search(question: string, { from, limit, similarity }: SearchOptions): FoundPassage[] {
    const wordMatches = this.#searchWords(question, from);
    const similarIds = similarity === undefined ? [] : this.#rankSimilar(from, similarity);
    const matches = similarIds.length === 0 ? wordMatches : mergeRanks([wordMatches.map(({ id }) => id), similarIds]);
    return matches.slice(0, limit).flatMap(({ id, score }) => {
      const passageSource = this.#findBook(id);
      const nth = Number.parseInt(id, 10);
      const passage = passageSource?.passages[nth];
      if (passageSource === undefined || passage === undefined) return [];
      const { passages: _, ...sourceFields } = passageSource;
      return [{ origin: sourceFields, nth, ...passage, score }];
    });
  }

  #searchWords(question: string, from: ReadonlySet<Source>): readonly ScoredPassage[] {
    const words = [...new Set(splitSearchWords(question))].slice(0, maxWords);
    return this.#search.search(words.join(' '), {
      tokenize: (text) => text.split(' '),
      boost: { title: 2, headings: 1.5 },
      boostDocument: (_id, _word, stored) => {
        const source = stored?.['source'] as Source;
        return from.has(source) ? weights[source] : 0;
      },
    });
  }

  #rankSimilar(from: ReadonlySet<Source>, similarity: (text: string) => number | undefined): readonly string[] {
    const scoredPassages = [...this.#writtenPassages(from)].flatMap(({ id, text }) => {
      const score = similarity(text);
      return score === undefined ? [] : [{ id, score }];
    });
    const bestPassages = scoredPassages
      .toSorted((left, right) => right.score - left.score)
      .slice(0, maxSimilarPassages);
    return bestPassages.map(({ id }) => id);
  }

  #findBook(id: string): PassageSource | undefined {
    return this.#sources.get(id.slice(id.indexOf(' ') + 1));
  }
}

interface ScoredPassage {
  readonly id: string;
  readonly score: number;
}

/** Merges lists by reciprocal rank: an entry in both lists precedes one with the same rank in a single list. */
const mergeRanks = (lists: readonly (readonly string[])[]): readonly ScoredPassage[] => {
  const scores = new Map<string, number>();
  for (const ids of lists)
    for (const [rank, id] of ids.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (rankOffset + rank + 1));
  const scored = [...scores].map(([id, score]) => ({ id, score }));
  return scored.toSorted((left, right) => right.score - left.score);
};
