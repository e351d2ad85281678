/** What values a variable of a pattern took: the most frequent ones and the range of the numbers, in bounded memory. */

/** Characters kept of a value. */
const MAX_VALUE = 48;
/** Values that tell whether a variable is an identifier, of which a few examples are enough. */
const ENOUGH = 32;
const FEW = 2;

export interface ValueSummary {
  /** Values looked at. */
  readonly seen: number;
  /** Frequent values, the most frequent first; a count may be too high by what a value before it took. */
  readonly top: readonly (readonly [value: string, count: number])[];
  /** Over the values that are numbers. */
  readonly numbers: number;
  readonly min: number;
  readonly max: number;
}

/** A string of its own: a slice of a body would keep the whole body in memory. */
const own = (value: string): string => (value.length < 13 ? value : Buffer.from(value, 'utf8').toString());

const digit = (code: number): boolean => code >= 48 && code <= 57;

/** The number that a value begins with (`12`, `-3.5`, `12ms`), else NaN. */
const numberOf = (value: string): number => {
  const first = value.charCodeAt(0);
  if (!digit(first) && !((first === 45 || first === 46) && digit(value.charCodeAt(1)))) return Number.NaN;
  let end = 1;
  let dots = 0;
  for (; end < value.length && end < 24; end++) {
    const code = value.charCodeAt(end);
    if (code === 46) dots++;
    else if (!digit(code)) break;
  }
  const rest = value.charCodeAt(end);
  // Only a unit may follow: dates, addresses and hexadecimal are no numbers.
  if (
    dots > 1 ||
    rest === 120 ||
    rest === 45 ||
    rest === 47 ||
    rest === 58 ||
    digit(value.charCodeAt(value.length - 1)) !== (end === value.length)
  )
    return Number.NaN;
  return Number(value.slice(0, end));
};

/** Space-saving: when a new value finds no place, it takes that of the least frequent one, and its count. */
export class Values {
  seen = 0;
  numbers = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  /** How often a value was one that is kept. */
  #hits = 0;
  #capacity: number;
  // Replaced when they grow, not pushed to: a pushed array keeps room for seventeen.
  #names: readonly string[] = [];
  #counts: number[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(raw: string, times = 1): void {
    this.seen += times;
    const value = raw.length > MAX_VALUE ? raw.slice(0, MAX_VALUE) : raw;
    const number = numberOf(value);
    if (!Number.isNaN(number)) {
      this.numbers += times;
      if (number < this.min) this.min = number;
      if (number > this.max) this.max = number;
    }
    this.#count(value, times);
  }

  #count(value: string, times: number): void {
    const at = this.#names.indexOf(value);
    if (at >= 0) {
      this.#counts[at] = (this.#counts[at] as number) + times;
      this.#hits++;
    } else if (this.#names.length < this.#capacity) {
      this.#names = [...this.#names, own(value)];
      this.#counts = [...this.#counts, times];
    } else this.#replace(value, times);
  }

  #replace(value: string, times: number): void {
    // An identifier has no frequent values.
    if (this.#capacity > FEW && this.seen >= ENOUGH && this.#hits * 8 < this.seen) this.#keepFew();
    let least = 0;
    for (let index = 1; index < this.#counts.length; index++)
      if ((this.#counts[index] as number) < (this.#counts[least] as number)) least = index;
    const names = [...this.#names];
    names[least] = own(value);
    this.#names = names;
    this.#counts[least] = (this.#counts[least] as number) + times;
  }

  #keepFew(): void {
    const { top } = this.summary();
    this.#capacity = FEW;
    this.#names = top.slice(0, FEW).map(([name]) => name);
    this.#counts = top.slice(0, FEW).map(([, count]) => count);
  }

  /** Takes up what another sketch saw. */
  merge({ seen, numbers, min, max, top }: ValueSummary): void {
    this.seen += seen;
    this.numbers += numbers;
    this.min = Math.min(this.min, min);
    this.max = Math.max(this.max, max);
    for (const [value, count] of top) this.#count(value, count);
  }

  summary(): ValueSummary {
    const { seen, numbers, min, max } = this;
    const top = this.#names.map((name, index) => [name, this.#counts[index] as number] as const);
    return { seen, numbers, min, max, top: top.sort(([, one], [, two]) => two - one) };
  }
}
