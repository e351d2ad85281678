/**
 * Counts the values of a pattern's variable in bounded memory: frequent values, an approximate distinct count, and the
 * range of numbers.
 */
import { isDigit } from '../../queries/log-patterns/keyed-body.ts';
import { addToSketch, createSketch, mergeSketches } from '../../subjects/log-patterns/distinct-values.ts';

/** Maximum number of stored characters per value. */
const MAX_VALUE = 48;
/** Number of values needed to decide whether a variable is an identifier, which has no frequent values. */
const MIN_OBSERVATIONS = 32;

export interface ValueSummary {
  /** Number of observed values. */
  readonly observed: number;
  /** Frequent values with the minimum number of their occurrences, most frequent first. */
  readonly top: readonly (readonly [value: string, atLeast: number])[];
  /** Sketch of the distinct values; `undefined` if `top` contains all of them. */
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
 * Returns a separate string, because a slice would retain the whole body in memory. In a long text, a lone surrogate is
 * replaced.
 */
const decodeText = (codes: Uint16Array, from: number, to: number): string => {
  let all = 0;
  for (let index = from; index < to; index++) {
    const code = codes[index] as number;
    latin1Buffer[index - from] = code;
    all |= code;
  }
  if (all < 256) return latin1Buffer.toString('latin1', 0, to - from);
  const text = String.fromCharCode(...codes.subarray(from, to));
  return text.length < 13 ? text : text.toWellFormed();
};

/** Buffer for the codes of a text value. */
const codeBuffer = new Uint16Array(MAX_VALUE);
const copyToCodeBuffer = (value: string): number => {
  const length = Math.min(value.length, MAX_VALUE);
  for (let index = 0; index < length; index++) codeBuffer[index] = value.charCodeAt(index);
  return length;
};

const isText = (text: string, codes: Uint16Array, from: number, to: number): boolean => {
  if (text.length !== to - from) return false;
  for (let index = from; index < to; index++) if (text.charCodeAt(index - from) !== codes[index]) return false;
  return true;
};

/** Maximum number of characters of a number that is parsed here. */
const MAX_EXACT = 15;
const powers = Array.from({ length: MAX_EXACT }, (_, power) => 10 ** power);

/** Equals `Number` for at most `MAX_EXACT` characters, because dividing two exact numbers rounds only once. */
const parseExactNumber = (codes: Uint16Array, from: number, end: number): number => {
  let digits = 0;
  let dot = end - 1;
  for (let index = from; index < end; index++) {
    const code = codes[index] as number;
    if (code === 46) dot = index;
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
export class ValueCounts {
  /** Name of the variable. */
  readonly name: string;
  observed = 0;
  numbers = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  /** Number of observations of an already stored value. */
  #hits = 0;
  #capacity: number;
  /**
   * Value, count, error, value, count, error … Copied when it grows, because a pushed array reserves seventeen slots.
   */
  #counters: (string | number)[] = [];
  /** Sketch of all values, created once not all values can be stored. */
  #distinct: string | undefined;

  constructor(name: string, capacity: number) {
    this.name = name;
    this.#capacity = capacity;
  }

  static restore(
    name: string,
    [capacity, hits, count, numbers, min, max, distinct, counters]: SavedValues,
  ): ValueCounts {
    const values = new ValueCounts(name, capacity);
    values.#hits = hits;
    values.observed = count;
    values.numbers = numbers;
    values.min = min ?? values.min;
    values.max = max ?? values.max;
    values.#distinct = distinct ?? undefined;
    values.#counters = counters.slice();
    return values;
  }

  /** Returns the exact state, so that a restored instance behaves the same. */
  serialize(): SavedValues {
    const { observed, numbers, min, max } = this;
    const hasNumbers = numbers > 0;
    const range = [hasNumbers ? min : null, hasNumbers ? max : null] as const;
    return [this.#capacity, this.#hits, observed, numbers, ...range, this.#distinct ?? null, this.#counters];
  }

  add(value: string, times = 1): void {
    this.observe(codeBuffer, 0, copyToCodeBuffer(value), times);
  }

  /** Adds a value between two positions of a body; most need no string. */
  observe(codes: Uint16Array, from: number, end: number, times = 1): void {
    const to = Math.min(end, from + MAX_VALUE);
    this.observed += times;
    const number = parseNumber(codes, from, to);
    if (!Number.isNaN(number)) {
      this.numbers += times;
      if (number < this.min) this.min = number;
      if (number > this.max) this.max = number;
    }
    this.#hits += this.#count(codes, from, to, { times, error: 0 }) ? times : times - 1;
  }

  /** Merges the values of another variable. */
  merge(other: ValueCounts): void {
    this.observed += other.observed;
    this.numbers += other.numbers;
    this.min = Math.min(this.min, other.min);
    this.max = Math.max(this.max, other.max);
    this.#hits += other.#hits;
    if (other.#distinct !== undefined)
      this.#distinct = mergeSketches(this.#distinct ?? createSketch(this.#listValues()), other.#distinct);
    for (let at = 0; at < other.#counters.length; at += 3) if (this.#addCounter(other, at)) this.#hits++;
  }

  summarize(): ValueSummary {
    const { observed, numbers, min, max } = this;
    const top: (readonly [string, number])[] = [];
    for (let slot = 0; slot < this.#counters.length; slot += 3) {
      const count = this.#getNumber(slot + 1);
      const error = this.#getNumber(slot + 2);
      // In all other slots, most of the count belongs to earlier values.
      if (error * 2 < count) top.push([this.#counters[slot] as string, count - error]);
    }
    return {
      observed,
      numbers,
      min,
      max,
      distinct: this.#distinct,
      top: top.sort(([, left], [, right]) => right - left),
    };
  }

  #getNumber(at: number): number {
    return this.#counters[at] as number;
  }

  #listValues(): string[] {
    return this.#counters.filter((_, at) => at % 3 === 0) as string[];
  }

  #addCounter(other: ValueCounts, at: number): boolean {
    const length = copyToCodeBuffer(other.#counters[at] as string);
    return this.#count(codeBuffer, 0, length, { times: other.#getNumber(at + 1), error: other.#getNumber(at + 2) });
  }

  /** Counts a value. Returns whether it was already stored. */
  #count(codes: Uint16Array, from: number, to: number, { times, error }: Occurrences): boolean {
    const counters = this.#counters;
    let slot = 0;
    while (slot < counters.length && !isText(counters[slot] as string, codes, from, to)) slot += 3;
    if (slot < counters.length) {
      counters[slot + 1] = this.#getNumber(slot + 1) + times;
      counters[slot + 2] = this.#getNumber(slot + 2) + error;
      return true;
    }
    if (counters.length < this.#capacity * 3)
      this.#counters = counters.concat(decodeText(codes, from, to), times, error);
    else {
      this.#distinct ??= createSketch(this.#listValues());
      if (this.#capacity > 0 && this.observed >= MIN_OBSERVATIONS && this.#hits * 8 < this.observed)
        this.#forgetCounters();
      if (this.#capacity > 0) this.#replace(decodeText(codes, from, to), times, error);
    }
    if (this.#distinct !== undefined) this.#distinct = addToSketch(this.#distinct, codes, from, to);
    return false;
  }

  #forgetCounters(): void {
    this.#capacity = 0;
    this.#counters = [];
  }

  #replace(value: string, times: number, error: number): void {
    let minAt = 0;
    for (let at = 3; at < this.#counters.length; at += 3)
      if (this.#getNumber(at + 1) < this.#getNumber(minAt + 1)) minAt = at;
    const before = this.#getNumber(minAt + 1);
    this.#counters[minAt] = value;
    this.#counters[minAt + 1] = before + times;
    this.#counters[minAt + 2] = before + error;
  }
}
