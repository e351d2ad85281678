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
  for (let position = 0; position < outer.length; position++)
    if (outer[position] !== inner[position] && outer[position] !== ANY) return false;
  return true;
};

const countWildcards = (places: readonly number[]): number =>
  places.reduce((sum, hash) => sum + (hash === ANY ? 1 : 0), 0);

interface RankedCoverage extends PatternCoverage {
  readonly wildcardCount: number;
}

/**
 * Orders the narrowest forms first. Forms of equal width are ordered by id, so that every reader decides identically.
 */
const compareSpecificity = (left: RankedCoverage, right: RankedCoverage): number =>
  left.wildcardCount - right.wildcardCount || (left.id < right.id ? -1 : 1);

/**
 * Forms of one service and structure. If another pattern covers a pattern, its id is an alias of the other id: the
 * patterns were merged, or would have been merged if one consumer group member had processed all bodies. All other
 * patterns survive.
 */
export class PatternForms {
  readonly #forms: readonly RankedCoverage[];
  /** Forms that no other form covers, the narrowest first */
  readonly #survivingForms: readonly RankedCoverage[];
  readonly #survivingIds: ReadonlySet<string>;

  constructor(forms: readonly PatternCoverage[]) {
    this.#forms = forms
      .map((form) => ({ ...form, wildcardCount: countWildcards(form.places) }))
      .sort(compareSpecificity);
    const withWildcards = this.#forms.filter(({ wildcardCount }) => wildcardCount > 0);
    this.#survivingForms = this.#forms.filter(
      (form) =>
        !withWildcards.some((other) => other.wildcardCount > form.wildcardCount && covers(other.places, form.places)),
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
    const ownForms = this.#forms.filter((form) => form.id === id);
    return this.#survivingForms.find(({ places }) => ownForms.some((form) => covers(places, form.places)))?.id ?? id;
  }
}
