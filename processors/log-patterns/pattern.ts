/** One pattern: its words and variables, and what was counted of it. */
import { ANY, kindOf, type Tokens, VARIABLE } from './tokens.ts';
import { type ValueSummary, Values } from './values.ts';

/** Frequent values kept of one pattern, shared by its variables. */
const VALUES = 24;
/** Variables whose values are kept. */
const MAX_VARIABLES = 12;

/** A pattern as it is written into a snapshot. */
export interface SavedPattern {
  readonly hashes: readonly number[];
  readonly words: readonly string[];
  readonly gaps: readonly string[];
  readonly structure: number;
  readonly shape: number;
  readonly count: number;
  readonly last: number;
  readonly values: readonly (readonly [name: string, summary: ValueSummary])[];
}

const hex = (value: number): string => (value >>> 0).toString(16).padStart(8, '0');

/** 64 bits of a template: the same in every process. */
const idOf = (template: string): string => {
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let index = 0; index < template.length; index++) {
    const code = template.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b);
    high ^= high >>> 13;
  }
  return hex(high ^ (high >>> 16)) + hex(low ^ (low >>> 15));
};

/** Where lines go that found no place among the patterns. */
export const OTHER_TEMPLATE = '<other>';
export const OTHER_ID: string = idOf(OTHER_TEMPLATE);

/** What stands around the message: the keys of JSON and logfmt, in one order. */
const frameOf = ({ form, fields, message }: Tokens): readonly [before: string, after: string] => {
  if (form === 'text') return ['', ''];
  const names = fields.map(([name]) => name.replace(/\d+/g, '0')).sort();
  if (form === 'json') {
    const keys = names.map((name) => `"${name}":<*>`).join(',');
    return message === '' ? [`{${keys}`, '}'] : [`{${keys}${keys === '' ? '' : ','}"${message}":"`, '"}'];
  }
  const keys = names.map((name) => `${name}=<*>`).join(' ');
  return message === '' ? [keys, ''] : [`${keys}${keys === '' ? '' : ' '}${message}="`, '"'];
};

export class Pattern {
  /** Fixed at birth: a function of the words and punctuation alone, whatever its variables look like. */
  readonly id: string;
  readonly template: string;
  /** Of each place: the hash of its word, `VARIABLE` or `ANY`. */
  readonly hashes: Int32Array;
  /** Of each place: its word, or `<kind>`. */
  readonly words: readonly string[];
  /** Punctuation: before each place, and after the last. */
  readonly gaps: readonly string[];
  readonly structure: number;
  /** Hash of the masked form at birth. */
  readonly shape: number;
  /** Places that are not words. */
  readonly variables: number;
  /** Whether it covers more than one form. */
  readonly isWide: boolean;
  /** Bodies of this pattern, those of merged ones included. */
  count = 0;
  /** The number of the body that it saw last. */
  last = 0;
  /** The pattern that it was merged into. */
  into: Pattern | undefined;
  /** Whether it lost its place. */
  evicted = false;
  readonly values: Map<string, Values> = new Map<string, Values>();

  constructor(saved: Omit<SavedPattern, 'values' | 'hashes'> & { readonly hashes: ArrayLike<number> }) {
    this.hashes = Int32Array.from(saved.hashes);
    this.words = saved.words;
    this.gaps = saved.gaps;
    this.structure = saved.structure;
    this.shape = saved.shape;
    this.count = saved.count;
    this.last = saved.last;
    let plain = '';
    let template = '';
    let variables = 0;
    for (const [place, word] of saved.words.entries()) {
      const gap = saved.gaps[place] as string;
      if (!this.isWord(place)) variables++;
      plain += gap + (this.isWord(place) ? word : '<*>');
      template += gap + word;
    }
    const end = saved.gaps[saved.words.length] as string;
    this.id = idOf((plain + end).trim());
    this.template = (template + end).trim();
    this.variables = variables;
    this.isWide = this.hashes.includes(ANY);
  }

  /** The pattern of one body alone. */
  static of(tokens: Tokens): Pattern {
    const hashes = tokens.hashes.subarray(0, tokens.count);
    const words: string[] = [];
    const gaps: string[] = [];
    for (let place = 0; place < tokens.count; place++) {
      gaps.push(tokens.gap(place));
      words.push(hashes[place] === VARIABLE ? `<${kindOf(tokens.kinds[place] as number)}>` : tokens.value(place));
    }
    gaps.push(tokens.gap(tokens.count));
    const [before, after] = frameOf(tokens);
    gaps[0] = before + (gaps[0] as string).trimStart();
    gaps[tokens.count] = (gaps[tokens.count] as string).trimEnd() + after;
    const { structure, shape } = tokens;
    // Through JSON, as slices would keep the body in memory.
    const own = JSON.parse(JSON.stringify({ words, gaps })) as { words: string[]; gaps: string[] };
    return new Pattern({ ...own, hashes, structure, shape, count: 0, last: 0 });
  }

  static restored(saved: SavedPattern): Pattern {
    const pattern = new Pattern(saved);
    for (const [name, summary] of saved.values) pattern.#valuesOf(name).merge(summary);
    return pattern;
  }

  saved(): SavedPattern {
    const { hashes, words, gaps, structure, shape, count, last } = this;
    const values = [...this.values].map(([name, kept]) => [name, kept.summary()] as const);
    return { hashes: [...hashes], words, gaps, structure, shape, count, last, values };
  }

  isWord(place: number): boolean {
    const hash = this.hashes[place];
    return hash !== VARIABLE && hash !== ANY;
  }

  /** Whether a body or another pattern with these hashes is one of this pattern. */
  covers(hashes: Int32Array): boolean {
    for (let place = 0; place < this.hashes.length; place++) {
      const hash = this.hashes[place];
      if (hash !== hashes[place] && hash !== ANY) return false;
    }
    return true;
  }

  /** This pattern with variables at more places. */
  widened(places: readonly number[]): Pattern {
    const hashes = this.hashes.slice();
    const words = [...this.words];
    for (const place of places) {
      hashes[place] = ANY;
      words[place] = '<*>';
    }
    const { gaps, structure, shape } = this;
    return new Pattern({ hashes, words, gaps, structure, shape, count: 0, last: 0 });
  }

  /** Takes up the counts and values of a pattern that it covers. */
  absorb(other: Pattern): void {
    this.count += other.count;
    this.last = Math.max(this.last, other.last);
    for (const [name, kept] of other.values) this.#valuesOf(name).merge(kept.summary());
    for (let place = 0; place < this.hashes.length; place++)
      if (!this.isWord(place) && other.isWord(place) && this.#isKept(place))
        this.#valuesOf(String(place)).add(other.words[place] as string, other.count);
    other.into = this;
  }

  /** Counts the values of a body of this pattern. */
  observe(tokens: Tokens): void {
    let left = MAX_VARIABLES;
    for (let place = 0; place < this.hashes.length && left > 0; place++) {
      if (this.isWord(place)) continue;
      left--;
      this.#valuesOf(String(place)).add(tokens.value(place));
    }
    for (const [name, value] of tokens.fields) {
      if (left-- <= 0) break;
      this.#valuesOf(name).add(value);
    }
  }

  #isKept(place: number): boolean {
    let before = 0;
    for (let index = 0; index < place; index++) if (!this.isWord(index)) before++;
    return before < MAX_VARIABLES;
  }

  #valuesOf(name: string): Values {
    let kept = this.values.get(name);
    if (kept === undefined) {
      kept = new Values(Math.max(2, Math.min(8, Math.floor(VALUES / Math.max(1, this.variables)))));
      this.values.set(name, kept);
    }
    return kept;
  }
}
