/**
 * Values of a pattern's variable in bounded memory: the frequent ones, an approximate distinct count, and the range of
 * numbers.
 */
import { addToSketch, createSketch, mergeSketches } from '../../subjects/log-patterns/distinct-values.ts';

/** Maximum number of stored characters per value. */
const MAX_VALUE = 48;
/** Number of values needed to decide whether a variable is an identifier, which has no frequent values. */
const MIN_OBSERVATIONS = 32;

export interface ValueSummary {
  /** Number of observed values. */
  readonly seen: number;
  /** Frequent values with the minimum number of their occurrences, most frequent first. */
  readonly top: readonly (readonly [value: string, atLeast: number])[];
  /** Sketch of the distinct values; `undefined` if `top` has them all. */
  readonly distinct: string | undefined;
  /** Number of values that are numbers. */
  readonly numbers: number;
  readonly min: number;
  readonly max: number;
}

/** Values in a snapshot. */
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

const latin1Buffer = Buffer.alloc(MAX_VALUE);
/**
 * Returns a separate string, because a slice would retain the whole body in memory. A surrogate half at the end of a
 * long one is dropped.
 */
const decodeText = (codes: Uint16Array, from: number, to: number): string => {
  let all = 0;
  for (let at = from; at < to; at++) {
    const code = codes[at] as number;
    latin1Buffer[at - from] = code;
    all |= code;
  }
  if (all < 256) return latin1Buffer.toString('latin1', 0, to - from);
  const text = String.fromCharCode(...codes.subarray(from, to));
  return text.length < 13 ? text : text.toWellFormed();
};

/** Buffer for the codes of a text value. */
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

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Maximum number of characters of a number that is parsed here. */
const MAX_EXACT = 15;
const powers = Array.from({ length: MAX_EXACT }, (_, power) => 10 ** power);

/** Returns the same as `Number` for this few characters: a division of two exact numbers is rounded once. */
const parseExactNumber = (codes: Uint16Array, from: number, end: number): number => {
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

/** Returns whether a number begins here: a digit, or a sign or dot before one. */
const beginsNumber = (codes: Uint16Array, from: number, to: number): boolean => {
  const first = from < to ? (codes[from] as number) : 0;
  return isDigit(first) || ((first === 45 || first === 46) && from + 1 < to && isDigit(codes[from + 1] as number));
};

/** Returns the number at the start of a value (`12`, `-3.5`, `12ms`), otherwise NaN. */
const parseNumber = (codes: Uint16Array, from: number, to: number): number => {
  if (!beginsNumber(codes, from, to)) return Number.NaN;
  const maxEnd = Math.min(to, from + 24);
  let end = from;
  let dots = 0;
  for (; end < maxEnd; end++) {
    const code = codes[end] as number;
    if (code === 46) dots++;
    else if (!isDigit(code) && end > from) break;
  }
  const rest = end < to ? codes[end] : 0;
  // Only a unit may follow: dates, addresses and hexadecimal values are not numbers.
  if (
    dots > 1 ||
    rest === 120 ||
    rest === 45 ||
    rest === 47 ||
    rest === 58 ||
    isDigit(codes[to - 1] as number) !== (end === to)
  )
    return Number.NaN;
  return end - from > MAX_EXACT ? Number(decodeText(codes, from, end)) : parseExactNumber(codes, from, end);
};

/** Count of a value, and the part of the count that may belong to others. */
interface Occurrences {
  readonly times: number;
  readonly error: number;
}

/**
 * Values counted by the space-saving algorithm: without a free slot, a new value takes the slot and the count of the
 * least frequent one. The inherited part of a count is its error. The value occurred at least as often as the count
 * minus the error.
 */
export class Values {
  /** Name of the variable. */
  readonly name: string;
  seen = 0;
  numbers = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  /** Number of observations that hit a stored value. */
  #hits = 0;
  #capacity: number;
  /**
   * Value, count, error, value, count, error … Copied when it grows, because a pushed array reserves seventeen slots.
   */
  #counters: (string | number)[] = [];
  /** Sketch of all values, once there are more than are stored. */
  #distinct: string | undefined;

  constructor(name: string, capacity: number) {
    this.name = name;
    this.#capacity = capacity;
  }

  static restore(name: string, [capacity, hits, seen, numbers, min, max, distinct, counters]: SavedValues): Values {
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

  /** Returns the exact state, so that a restored one behaves equally. */
  serialize(): SavedValues {
    const { seen, numbers, min, max } = this;
    const hasNumbers = numbers > 0;
    const range = [hasNumbers ? min : null, hasNumbers ? max : null] as const;
    return [this.#capacity, this.#hits, seen, numbers, ...range, this.#distinct ?? null, this.#counters];
  }

  add(value: string, times = 1): void {
    this.observe(scratch, 0, toScratch(value), times);
  }

  /** Adds a value between two positions of a body; most need no string. */
  observe(codes: Uint16Array, from: number, end: number, times = 1): void {
    const to = Math.min(end, from + MAX_VALUE);
    this.seen += times;
    const number = parseNumber(codes, from, to);
    if (!Number.isNaN(number)) {
      this.numbers += times;
      if (number < this.min) this.min = number;
      if (number > this.max) this.max = number;
    }
    this.#hits += this.#count(codes, from, to, { times, error: 0 }) ? times : times - 1;
  }

  /** Merges the values of another variable. */
  merge(other: Values): void {
    this.seen += other.seen;
    this.numbers += other.numbers;
    this.min = Math.min(this.min, other.min);
    this.max = Math.max(this.max, other.max);
    this.#hits += other.#hits;
    if (other.#distinct !== undefined)
      this.#distinct = mergeSketches(this.#distinct ?? createSketch(this.#values()), other.#distinct);
    for (let at = 0; at < other.#counters.length; at += 3) if (this.#addCounter(other, at)) this.#hits++;
  }

  summary(): ValueSummary {
    const { seen, numbers, min, max } = this;
    const top: (readonly [string, number])[] = [];
    for (let at = 0; at < this.#counters.length; at += 3) {
      const count = this.#number(at + 1);
      const error = this.#number(at + 2);
      // For the others, most of the count belongs to earlier values.
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

  /** Counts a value. Returns whether it was already stored. */
  #count(codes: Uint16Array, from: number, to: number, { times, error }: Occurrences): boolean {
    const counters = this.#counters;
    let at = 0;
    while (at < counters.length && !isText(counters[at] as string, codes, from, to)) at += 3;
    if (at < counters.length) {
      counters[at + 1] = this.#number(at + 1) + times;
      counters[at + 2] = this.#number(at + 2) + error;
      return true;
    }
    if (counters.length < this.#capacity * 3)
      this.#counters = counters.concat(decodeText(codes, from, to), times, error);
    else {
      this.#distinct ??= createSketch(this.#values());
      if (this.#capacity > 0 && this.seen >= MIN_OBSERVATIONS && this.#hits * 8 < this.seen) this.#forget();
      if (this.#capacity > 0) this.#replace(decodeText(codes, from, to), times, error);
    }
    if (this.#distinct !== undefined) this.#distinct = addToSketch(this.#distinct, codes, from, to);
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
