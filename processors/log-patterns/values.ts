/** What values a variable of a pattern took: the frequent ones, about how many, and the range of the numbers, in bounded memory. */
import { mergeSketches, sketchOf, sketchWith } from '../../subjects/log-patterns/distinct-values.ts';

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

const narrow = Buffer.alloc(MAX_VALUE);
/** A string of its own: a slice of a body would keep the whole body in memory. Half a character at the end of a long one is none. */
const textOf = (codes: Uint16Array, from: number, to: number): string => {
  let all = 0;
  for (let at = from; at < to; at++) {
    const code = codes[at] as number;
    narrow[at - from] = code;
    all |= code;
  }
  if (all < 256) return narrow.toString('latin1', 0, to - from);
  const text = String.fromCharCode(...codes.subarray(from, to));
  return text.length < 13 ? text : text.toWellFormed();
};

/** Codes of a value that is text. */
const scratch = new Uint16Array(MAX_VALUE);
const toScratch = (value: string): number => {
  const length = Math.min(value.length, MAX_VALUE);
  for (let at = 0; at < length; at++) scratch[at] = value.charCodeAt(at);
  return length;
};

const isText = (text: string, codes: Uint16Array, from: number, to: number): boolean => {
  if (text.length !== to - from) return false;
  for (let at = from; at < to; at++) if (text.charCodeAt(at - from) !== codes[at]) return false;
  return true;
};

const digit = (code: number): boolean => code >= 48 && code <= 57;

/** Characters of a number that is made of its digits here. */
const MAX_EXACT = 15;
const powers = Array.from({ length: MAX_EXACT }, (_, power) => 10 ** power);

/** The same as `Number` makes of so few characters: a division of two exact numbers is rounded once. */
const exactNumber = (codes: Uint16Array, from: number, end: number): number => {
  let digits = 0;
  let dot = end - 1;
  for (let at = from; at < end; at++) {
    const code = codes[at] as number;
    if (code === 46) dot = at;
    else if (code !== 45) digits = digits * 10 + code - 48;
  }
  const number = digits / (powers[end - 1 - dot] as number);
  return codes[from] === 45 ? -number : number;
};

/** Whether a number begins here: with a digit, or a sign or dot before one. */
const beginsNumber = (codes: Uint16Array, from: number, to: number): boolean => {
  const first = from < to ? (codes[from] as number) : 0;
  return digit(first) || ((first === 45 || first === 46) && from + 1 < to && digit(codes[from + 1] as number));
};

/** The number that a value begins with (`12`, `-3.5`, `12ms`), else NaN. */
const numberIn = (codes: Uint16Array, from: number, to: number): number => {
  if (!beginsNumber(codes, from, to)) return Number.NaN;
  const maxEnd = Math.min(to, from + 24);
  let end = from;
  let dots = 0;
  for (; end < maxEnd; end++) {
    const code = codes[end] as number;
    if (code === 46) dots++;
    else if (!digit(code) && end > from) break;
  }
  const rest = end < to ? codes[end] : 0;
  // Only a unit may follow: dates, addresses and hexadecimal are no numbers.
  if (
    dots > 1 ||
    rest === 120 ||
    rest === 45 ||
    rest === 47 ||
    rest === 58 ||
    digit(codes[to - 1] as number) !== (end === to)
  )
    return Number.NaN;
  return end - from > MAX_EXACT ? Number(textOf(codes, from, end)) : exactNumber(codes, from, end);
};

/** How often a value came, and how much of that may be of others. */
interface Came {
  readonly times: number;
  readonly error: number;
}

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
  #counters: (string | number)[] = [];
  /** Of all values, once there are more than are kept. */
  #distinct: string | undefined;

  constructor(name: string, capacity: number) {
    this.name = name;
    this.#capacity = capacity;
  }

  static restored(name: string, [capacity, hits, seen, numbers, min, max, distinct, counters]: SavedValues): Values {
    const values = new Values(name, capacity);
    values.#hits = hits;
    values.seen = seen;
    values.numbers = numbers;
    values.min = min ?? values.min;
    values.max = max ?? values.max;
    values.#distinct = distinct ?? undefined;
    values.#counters = counters.slice();
    return values;
  }

  /** Exactly what is held, so that one that is restored goes on alike. */
  saved(): SavedValues {
    const { seen, numbers, min, max } = this;
    const some = numbers > 0;
    const range = [some ? min : null, some ? max : null] as const;
    return [this.#capacity, this.#hits, seen, numbers, ...range, this.#distinct ?? null, this.#counters];
  }

  add(value: string, times = 1): void {
    this.see(scratch, 0, toScratch(value), times);
  }

  /** Adds a value that lies between two places of a body: most need no text. */
  see(codes: Uint16Array, from: number, end: number, times = 1): void {
    const to = Math.min(end, from + MAX_VALUE);
    this.seen += times;
    const number = numberIn(codes, from, to);
    if (!Number.isNaN(number)) {
      this.numbers += times;
      if (number < this.min) this.min = number;
      if (number > this.max) this.max = number;
    }
    this.#hits += this.#count(codes, from, to, { times, error: 0 }) ? times : times - 1;
  }

  /** Takes up what another one saw. */
  merge(other: Values): void {
    this.seen += other.seen;
    this.numbers += other.numbers;
    this.min = Math.min(this.min, other.min);
    this.max = Math.max(this.max, other.max);
    this.#hits += other.#hits;
    if (other.#distinct !== undefined)
      this.#distinct = mergeSketches(this.#distinct ?? sketchOf(this.#values()), other.#distinct);
    for (let at = 0; at < other.#counters.length; at += 3) if (this.#addCounter(other, at)) this.#hits++;
  }

  summary(): ValueSummary {
    const { seen, numbers, min, max } = this;
    const top: (readonly [string, number])[] = [];
    for (let at = 0; at < this.#counters.length; at += 3) {
      const count = this.#number(at + 1);
      const error = this.#number(at + 2);
      // Of the others most of the count is of values before them.
      if (error * 2 < count) top.push([this.#counters[at] as string, count - error]);
    }
    return { seen, numbers, min, max, distinct: this.#distinct, top: top.sort(([, one], [, two]) => two - one) };
  }

  #number(at: number): number {
    return this.#counters[at] as number;
  }

  #values(): string[] {
    return this.#counters.filter((_, at) => at % 3 === 0) as string[];
  }

  #addCounter(other: Values, at: number): boolean {
    const length = toScratch(other.#counters[at] as string);
    return this.#count(scratch, 0, length, { times: other.#number(at + 1), error: other.#number(at + 2) });
  }

  /** Whether the value was kept before. */
  #count(codes: Uint16Array, from: number, to: number, { times, error }: Came): boolean {
    const counters = this.#counters;
    let at = 0;
    while (at < counters.length && !isText(counters[at] as string, codes, from, to)) at += 3;
    if (at < counters.length) {
      counters[at + 1] = this.#number(at + 1) + times;
      counters[at + 2] = this.#number(at + 2) + error;
      return true;
    }
    if (counters.length < this.#capacity * 3) this.#counters = counters.concat(textOf(codes, from, to), times, error);
    else {
      this.#distinct ??= sketchOf(this.#values());
      if (this.#capacity > 0 && this.seen >= ENOUGH && this.#hits * 8 < this.seen) this.#forget();
      if (this.#capacity > 0) this.#replace(textOf(codes, from, to), times, error);
    }
    if (this.#distinct !== undefined) this.#distinct = sketchWith(this.#distinct, codes, from, to);
    return false;
  }

  #forget(): void {
    this.#capacity = 0;
    this.#counters = [];
  }

  #replace(value: string, times: number, error: number): void {
    let minAt = 0;
    for (let at = 3; at < this.#counters.length; at += 3)
      if (this.#number(at + 1) < this.#number(minAt + 1)) minAt = at;
    const before = this.#number(minAt + 1);
    this.#counters[minAt] = value;
    this.#counters[minAt + 1] = before + times;
    this.#counters[minAt + 2] = before + error;
  }
}
