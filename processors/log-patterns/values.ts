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

/** Values as they are written into a snapshot. */
export type SavedValues = readonly [
  capacity: number,
  hits: number,
  seen: number,
  numbers: number,
  min: number | null,
  max: number | null,
  kept: readonly (string | number)[],
];

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
  /** Of the variable. */
  readonly name: string;
  seen = 0;
  numbers = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  /** How often a value was one that is kept. */
  #hits = 0;
  #capacity: number;
  /** Value, count, value, count … Copied when it grows, not pushed to: a pushed array keeps room for seventeen. */
  #kept: (string | number)[] = [];

  constructor(name: string, capacity: number) {
    this.name = name;
    this.#capacity = capacity;
  }

  static restored(name: string, [capacity, hits, seen, numbers, min, max, kept]: SavedValues): Values {
    const values = new Values(name, capacity);
    values.#hits = hits;
    values.seen = seen;
    values.numbers = numbers;
    values.min = min ?? values.min;
    values.max = max ?? values.max;
    values.#kept = kept.slice();
    return values;
  }

  /** Exactly what is held, so that one that is restored goes on alike. */
  saved(): SavedValues {
    const { seen, numbers, min, max } = this;
    const some = numbers > 0;
    return [this.#capacity, this.#hits, seen, numbers, some ? min : null, some ? max : null, this.#kept];
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
    const kept = this.#kept;
    const at = kept.indexOf(value);
    if (at >= 0) {
      kept[at + 1] = (kept[at + 1] as number) + times;
      this.#hits++;
    } else if (kept.length < this.#capacity * 2) this.#kept = kept.concat(own(value), times);
    else this.#replace(value, times);
  }

  #replace(value: string, times: number): void {
    // An identifier has no frequent values.
    if (this.#capacity > FEW && this.seen >= ENOUGH && this.#hits * 8 < this.seen) {
      const { top } = this.summary();
      this.#capacity = FEW;
      this.#kept = top.slice(0, FEW).flat().slice();
    }
    const kept = this.#kept;
    let least = 1;
    for (let index = 3; index < kept.length; index += 2)
      if ((kept[index] as number) < (kept[least] as number)) least = index;
    kept[least - 1] = own(value);
    kept[least] = (kept[least] as number) + times;
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
    const top: (readonly [string, number])[] = [];
    for (let index = 0; index < this.#kept.length; index += 2)
      top.push([this.#kept[index] as string, this.#kept[index + 1] as number]);
    return { seen, numbers, min, max, top: top.sort(([, one], [, two]) => two - one) };
  }
}
