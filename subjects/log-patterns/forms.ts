/** Patterns of one structure against each other and against bodies: which one a body is of, and what became of an id. */
import { ANY } from './tokens.ts';

/** How a pattern covers bodies: of each place the hash of its word, `VARIABLE` or `ANY`. One id may have several forms, as members found them. */
export interface Form {
  readonly id: string;
  readonly places: readonly number[];
}

/** Whether `outer` takes everything of `inner`, another form or a body of the same structure: words and variables are the same, or `outer` takes any. */
export const covers = (outer: ArrayLike<number>, inner: ArrayLike<number>): boolean => {
  if (outer.length > inner.length) return false;
  for (let place = 0; place < outer.length; place++)
    if (outer[place] !== inner[place] && outer[place] !== ANY) return false;
  return true;
};

const widthOf = (places: readonly number[]): number => places.reduce((sum, place) => sum + (place === ANY ? 1 : 0), 0);

interface Ranked extends Form {
  readonly width: number;
}

/** The narrowest first; the order of ids decides between equals, so that every reader decides alike. */
const inOrder = (one: Ranked, two: Ranked): number => one.width - two.width || (one.id < two.id ? -1 : 1);

/**
 * The forms of one service and structure. A pattern that another one covers was merged into it, or would have been had one member seen
 * all bodies: its id is an alias. What is no alias survives.
 */
export class Forms {
  readonly #all: readonly Ranked[];
  /** Forms that no other covers, the narrowest first. */
  readonly #surviving: readonly Ranked[];
  readonly #ids: ReadonlySet<string>;

  constructor(forms: readonly Form[]) {
    this.#all = forms.map((form) => ({ ...form, width: widthOf(form.places) })).sort(inOrder);
    const wide = this.#all.filter(({ width }) => width > 0);
    this.#surviving = this.#all.filter(
      (form) => !wide.some((other) => other.width > form.width && covers(other.places, form.places)),
    );
    this.#ids = new Set(this.#surviving.map(({ id }) => id));
  }

  /** The id of the pattern that a body is of; `undefined` where no form covers it. */
  match(hashes: ArrayLike<number>): string | undefined {
    return this.#surviving.find(({ places }) => covers(places, hashes))?.id;
  }

  /** The id under which an id is read today: itself, or that of the pattern that covers it. */
  resolve(id: string): string {
    if (this.#ids.has(id)) return id;
    const own = this.#all.filter((form) => form.id === id);
    return this.#surviving.find(({ places }) => own.some((form) => covers(places, form.places)))?.id ?? id;
  }
}
