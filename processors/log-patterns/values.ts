/** What values a variable of a pattern took: the frequent ones, about how many, and the range of the numbers, in bounded memory. */
import { sketchesTogether, sketchOf, sketchWith } from '../../subjects/log-patterns/distinct-values.ts';

/** Characters kept of a value. */
const MAX_VALUE = 48;
/** Values that tell whether a variable is an identifier, which has no frequent ones. */
const ENOUGH = 32;

export interface ValueSummary {
  /** Values looked at. */
  readonly seen: number;
  /** Frequent values with how often each came at least, the most frequent first. */
  readonly top: readonly (readonly [value: string, atLeast: number])[];
  /** Sketch of the different values; `undefined` where `top` has them all. */
  readonly distinct: string | undefined;
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
  distinct: string | null,
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

/**
 * Space-saving: when a new value finds no place, it takes that of the least frequent one, and its count. How much of a count is of values before
 * is its error: the value itself came at least so often as the rest says.
 */
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
  /** Value, count, error, value, count, error … Copied when it grows, not pushed to: a pushed array keeps room for seventeen. */
  #kept: (string | number)[] = [];
  /** Of all values, once there are more than are kept. */
  #distinct: string | undefined;

  constructor(name: string, capacity: number) {
    this.name = name;
    this.#capacity = capacity;
  }

  static restored(name: string, [capacity, hits, seen, numbers, min, max, distinct, kept]: SavedValues): Values {
    const values = new Values(name, capacity);
    values.#hits = hits;
    values.seen = seen;
    values.numbers = numbers;
    values.min = min ?? values.min;
    values.max = max ?? values.max;
    values.#distinct = distinct ?? undefined;
    values.#kept = kept.slice();
    return values;
  }

  /** Exactly what is held, so that one that is restored goes on alike. */
  saved(): SavedValues {
    const { seen, numbers, min, max } = this;
    const some = numbers > 0;
    const range = [some ? min : null, some ? max : null] as const;
    return [this.#capacity, this.#hits, seen, numbers, ...range, this.#distinct ?? null, this.#kept];
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
    this.#hits += this.#count(value, times) ? times : times - 1;
  }

  /** Takes up what another one saw. */
  merge(other: Values): void {
    this.seen += other.seen;
    this.numbers += other.numbers;
    this.min = Math.min(this.min, other.min);
    this.max = Math.max(this.max, other.max);
    this.#hits += other.#hits;
    if (other.#distinct !== undefined)
      this.#distinct = sketchesTogether(this.#distinct ?? sketchOf(this.#values()), other.#distinct);
    for (let at = 0; at < other.#kept.length; at += 3)
      if (this.#count(other.#kept[at] as string, other.#number(at + 1), other.#number(at + 2))) this.#hits++;
  }

  summary(): ValueSummary {
    const { seen, numbers, min, max } = this;
    const top: (readonly [string, number])[] = [];
    for (let at = 0; at < this.#kept.length; at += 3) {
      const count = this.#number(at + 1);
      const error = this.#number(at + 2);
      // Of the others most of the count is of values before them.
      if (error * 2 < count) top.push([this.#kept[at] as string, count - error]);
    }
    return { seen, numbers, min, max, distinct: this.#distinct, top: top.sort(([, one], [, two]) => two - one) };
  }

  #number(at: number): number {
    return this.#kept[at] as number;
  }

  #values(): string[] {
    return this.#kept.filter((_, at) => at % 3 === 0) as string[];
  }

  /** Whether the value was kept before. */
  #count(value: string, times: number, error = 0): boolean {
    const kept = this.#kept;
    const at = kept.indexOf(value);
    if (at >= 0) {
      kept[at + 1] = this.#number(at + 1) + times;
      kept[at + 2] = this.#number(at + 2) + error;
      return true;
    }
    if (kept.length < this.#capacity * 3) this.#kept = kept.concat(own(value), times, error);
    else {
      this.#distinct ??= sketchOf(this.#values());
      if (this.seen >= ENOUGH && this.#hits * 8 < this.seen) this.#forget();
      if (this.#capacity > 0) this.#replace(value, times, error);
    }
    if (this.#distinct !== undefined) this.#distinct = sketchWith(this.#distinct, value);
    return false;
  }

  #forget(): void {
    this.#capacity = 0;
    this.#kept = [];
  }

  #replace(value: string, times: number, error: number): void {
    let least = 0;
    for (let at = 3; at < this.#kept.length; at += 3) if (this.#number(at + 1) < this.#number(least + 1)) least = at;
    const before = this.#number(least + 1);
    this.#kept[least] = own(value);
    this.#kept[least + 1] = before + times;
    this.#kept[least + 2] = before + error;
  }
}
