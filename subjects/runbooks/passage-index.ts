/** Finds passages by their words, BM25 over titles, headings and texts, and by what is told of their likeness to a question. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import MiniSearch from 'minisearch';
import type { Query } from '../../queries/query.ts';
import type { Passage } from './passages.ts';
import { stemOf, wordsOf } from './words.ts';

export const sources = ['document', 'incident', 'rule', 'log-pattern', 'handbook'] as const;
export type Source = (typeof sources)[number];

/** What has passages: a document, an incident … */
export interface Book {
  readonly source: Source;
  /** Of the document, incident, rule or pattern; of the handbook a path. */
  readonly id: string;
  readonly title: string;
  /** Where people find it; empty where nothing is known. */
  readonly url: string;
  readonly passages: readonly Passage[];
  /** What it asks itself, as a rule does. */
  readonly query?: Query | undefined;
}

export interface Searching {
  readonly from: ReadonlySet<Source>;
  readonly limit: number;
  /** How like the question what people wrote is, by its text (`writtenTexts`); undefined where that is not known. */
  readonly likeness?: (text: string) => number | undefined;
}

export interface FoundPassage {
  readonly book: Omit<Book, 'passages'>;
  /** From 0 on, in its book. */
  readonly nth: number;
  readonly headings: readonly string[];
  readonly text: string;
  readonly score: number;
}

/**
 * How much a passage weighs by where it comes from. What people wrote to be followed goes before what only says the same words: the
 * texts of a rule are those of its alerts.
 */
const weights: Readonly<Record<Source, number>> = {
  document: 1,
  incident: 0.6,
  handbook: 0.3,
  rule: 0.3,
  'log-pattern': 0.3,
};

/** Further words of a question are not looked for. */
const maxWords = 200;
/** Passages that are indexed before others have a turn. */
const atOnce = 20;

/** Of what people wrote, and not of what telemetry or rules say. */
const written: ReadonlySet<Source> = new Set<Source>(['document', 'incident']);
/** Passages that are found by their likeness alone. */
const maxSimilar = 10;
/** Of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009). */
const rankOffset = 60;

interface Entry {
  readonly id: string;
  readonly source: Source;
  readonly title: string;
  readonly headings: string;
  readonly text: string;
}

/** The passages of some books. A book is known by a key, which is another one when the book has changed. */
export class PassageIndex {
  readonly #books = new Map<string, Book>();
  readonly #search = new MiniSearch<Entry>({
    fields: ['title', 'headings', 'text'],
    storeFields: ['source'],
    tokenize: wordsOf,
    processTerm: stemOf,
    autoVacuum: { batchSize: 200, batchWait: 5, minDirtCount: 200, minDirtFactor: 0.1 },
  });

  has(key: string): boolean {
    return this.#books.has(key);
  }

  keys(): Iterable<string> {
    return this.#books.keys();
  }

  /** Of all books. */
  get passages(): number {
    return this.#search.documentCount;
  }

  async add(key: string, book: Book): Promise<void> {
    if (this.#books.has(key)) return;
    this.#books.set(key, book);
    for (const [nth, { headings, text }] of book.passages.entries()) {
      if (nth > 0 && nth % atOnce === 0) await yieldToEventLoop();
      // It was taken out meanwhile.
      if (this.#books.get(key) !== book) return;
      const { source, title } = book;
      this.#search.add({ id: `${nth} ${key}`, source, title, headings: headings.join('\n'), text });
    }
  }

  remove(key: string): void {
    const book = this.#books.get(key);
    this.#books.delete(key);
    for (const nth of book?.passages.keys() ?? []) {
      const id = `${nth} ${key}`;
      if (this.#search.has(id)) this.#search.discard(id);
    }
  }

  /** What vectors are made of: the passages that people wrote, with what they stand under. */
  *writtenTexts(from: ReadonlySet<Source>): Iterable<string> {
    for (const { text } of this.#written(from)) yield text;
  }

  *#written(from: ReadonlySet<Source>): Iterable<{ readonly id: string; readonly text: string }> {
    for (const [key, { source, title, passages }] of this.#books)
      if (written.has(source) && from.has(source))
        for (const [nth, { headings, text }] of passages.entries())
          yield { id: `${nth} ${key}`, text: [title, ...headings, text].join('\n') };
  }

  /** Those that fit best first; of equal ones the first by their place. Without likeness scores are BM25's, else those of both ranks. */
  search(question: string, { from, limit, likeness }: Searching): FoundPassage[] {
    const byWords = this.#byWords(question, from);
    const alike = likeness === undefined ? [] : this.#alike(from, likeness);
    const found = alike.length === 0 ? byWords : merged([byWords.map(({ id }) => id), alike]);
    return found.slice(0, limit).flatMap(({ id, score }) => {
      const book = this.#bookOf(id);
      const nth = Number.parseInt(id, 10);
      const passage = book?.passages[nth];
      if (book === undefined || passage === undefined) return [];
      const { passages: _, ...named } = book;
      return [{ book: named, nth, ...passage, score }];
    });
  }

  #byWords(question: string, from: ReadonlySet<Source>): readonly Scored[] {
    const words = [...new Set(wordsOf(question))].slice(0, maxWords);
    return this.#search.search(words.join(' '), {
      tokenize: (text) => text.split(' '),
      boost: { title: 2, headings: 1.5 },
      boostDocument: (_id, _word, stored) => {
        const source = stored?.['source'] as Source;
        return from.has(source) ? weights[source] : 0;
      },
    });
  }

  #alike(from: ReadonlySet<Source>, likeness: (text: string) => number | undefined): readonly string[] {
    const known = [...this.#written(from)].flatMap(({ id, text }) => {
      const score = likeness(text);
      return score === undefined ? [] : [{ id, score }];
    });
    const best = known.toSorted((one, other) => other.score - one.score).slice(0, maxSimilar);
    return best.map(({ id }) => id);
  }

  #bookOf(id: string): Book | undefined {
    return this.#books.get(id.slice(id.indexOf(' ') + 1));
  }
}

interface Scored {
  readonly id: string;
  readonly score: number;
}

/** By reciprocal ranks: what is in both lists goes before what is as far ahead in one. */
const merged = (lists: readonly (readonly string[])[]): readonly Scored[] => {
  const scores = new Map<string, number>();
  for (const ids of lists)
    for (const [rank, id] of ids.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (rankOffset + rank + 1));
  const scored = [...scores].map(([id, score]) => ({ id, score }));
  return scored.toSorted((one, other) => other.score - one.score);
};
