/**
 * Compares patterns of one structure with each other and with bodies. Finds the pattern of a body, and the current id
 * of a former pattern.
 */
import { ANY } from './tokens.ts';

/**
 * Coverage of a pattern: for each position, the hash of its word, `VARIABLE` or `ANY`. One id may have several forms,
 * because members of the consumer group detect patterns independently.
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

const countWildcards = (places: readonly number[]): number =>
  places.reduce((sum, place) => sum + (place === ANY ? 1 : 0), 0);

interface RankedCoverage extends PatternCoverage {
  readonly wildcardCount: number;
}

/**
 * Orders the narrowest forms first. Forms of equal width are ordered by id, so that every reader decides identically.
 */
const compareWidth = (one: RankedCoverage, two: RankedCoverage): number =>
  one.wildcardCount - two.wildcardCount || (one.id < two.id ? -1 : 1);

/**
 * Forms of one service and structure. A pattern that another one covers was merged into that one, or would have been if
 * one member had seen all bodies; its id is an alias of the other id. All other patterns survive.
 */
export class PatternForms {
  readonly #all: readonly RankedCoverage[];
  /** Forms that no other form covers, the narrowest first */
  readonly #survivingForms: readonly RankedCoverage[];
  readonly #survivingIds: ReadonlySet<string>;

  constructor(forms: readonly PatternCoverage[]) {
    this.#all = forms.map((form) => ({ ...form, wildcardCount: countWildcards(form.places) })).sort(compareWidth);
    const wide = this.#all.filter(({ wildcardCount }) => wildcardCount > 0);
    this.#survivingForms = this.#all.filter(
      (form) => !wide.some((other) => other.wildcardCount > form.wildcardCount && covers(other.places, form.places)),
    );
    this.#survivingIds = new Set(this.#survivingForms.map(({ id }) => id));
  }

  /** Returns the id of the pattern of a body; `undefined` if no form covers it. */
  match(hashes: ArrayLike<number>): string | undefined {
    return this.#survivingForms.find(({ places }) => covers(places, hashes))?.id;
  }

  /** Returns the current id of a pattern: the id itself, or that of the pattern that covers it. */
  resolve(id: string): string {
    if (this.#survivingIds.has(id)) return id;
    const ownForms = this.#all.filter((form) => form.id === id);
    return this.#survivingForms.find(({ places }) => ownForms.some((form) => covers(places, form.places)))?.id ?? id;
  }
}
