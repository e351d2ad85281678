/**
 * Compares patterns of one structure with each other and with bodies: the pattern of a body, and the current id of a
 * former pattern
 */
import { ANY } from './tokens.ts';

/**
 * Coverage of a pattern: for each position the hash of its word, `VARIABLE` or `ANY`. One id may have several forms, as
 * consumer group members found them.
 */
export interface PatternCoverage {
  readonly id: string;
  readonly places: readonly number[];
}

/**
 * Returns whether `outer` covers `inner`, another form or a body of the same structure. At each position, words and
 * variables are equal, or `outer` accepts any.
 */
export const covers = (outer: ArrayLike<number>, inner: ArrayLike<number>): boolean => {
  if (outer.length > inner.length) return false;
  for (let place = 0; place < outer.length; place++)
    if (outer[place] !== inner[place] && outer[place] !== ANY) return false;
  return true;
};

const widthOf = (places: readonly number[]): number => places.reduce((sum, place) => sum + (place === ANY ? 1 : 0), 0);

interface Ranked extends PatternCoverage {
  readonly width: number;
}

/** The narrowest first. Ids decide between equals, so that every reader decides identically. */
const inOrder = (one: Ranked, two: Ranked): number => one.width - two.width || (one.id < two.id ? -1 : 1);

/**
 * Forms of one service and structure. A pattern that another one covers was merged into it, or would have been if one
 * member had seen all bodies; its id is an alias. All other patterns survive.
 */
export class Forms {
  readonly #all: readonly Ranked[];
  /** Forms that no other form covers, the narrowest first */
  readonly #surviving: readonly Ranked[];
  readonly #ids: ReadonlySet<string>;

  constructor(forms: readonly PatternCoverage[]) {
    this.#all = forms.map((form) => ({ ...form, width: widthOf(form.places) })).sort(inOrder);
    const wide = this.#all.filter(({ width }) => width > 0);
    this.#surviving = this.#all.filter(
      (form) => !wide.some((other) => other.width > form.width && covers(other.places, form.places)),
    );
    this.#ids = new Set(this.#surviving.map(({ id }) => id));
  }

  /** Returns the id of the pattern of a body; `undefined` if no form covers it. */
  match(hashes: ArrayLike<number>): string | undefined {
    return this.#surviving.find(({ places }) => covers(places, hashes))?.id;
  }

  /** Returns the current id of a pattern: the id itself, or that of the pattern that covers it. */
  resolve(id: string): string {
    if (this.#ids.has(id)) return id;
    const own = this.#all.filter((form) => form.id === id);
    return this.#surviving.find(({ places }) => own.some((form) => covers(places, form.places)))?.id ?? id;
  }
}
