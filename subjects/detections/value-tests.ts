/** Compiled tests of values */
import type { EventValue } from './event.ts';
import type { Place, TimePart } from './modifiers.ts';
import { hasWildcards, lowered, patternTest, textOfPattern } from './pattern.ts';
import type { ItemTest, ValueTest } from './tree.ts';

/** A test of a resolved value */
export type LeafTest = (leaf: EventValue, other: (names: readonly string[]) => EventValue | undefined) => boolean;

const numberText = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** Returns the number of a text; `NaN` if it is not a number. */
export const numberOf = (text: string): number => (numberText.test(text) ? Number(text) : Number.NaN);

const same = (text: string): string => text;

const compare = (order: string, one: number, other: number): boolean => {
  switch (order) {
    case 'lt':
      return one < other;
    case 'lte':
      return one <= other;
    case 'gt':
      return one > other;
    case 'gte':
      return one >= other;
    case 'neq':
      return one !== other;
    default:
      return one === other;
  }
};

const written = /^(\d{4})[-/](\d\d)[-/](\d\d)(?:[T ](\d\d):(\d\d))?/;
const dayMs = 86_400_000;

/** Returns the ISO 8601 week of a day. */
const weekOf = (year: number, month: number, day: number): number => {
  const date = Date.UTC(year, month - 1, day);
  const thursday = date + (3 - ((new Date(date).getUTCDay() + 6) % 7)) * dayMs;
  return Math.floor((thursday - Date.UTC(new Date(thursday).getUTCFullYear(), 0, 1)) / dayMs / 7) + 1;
};

/**
 * Returns a part of a time as written, without time zone conversion. A number is read as seconds, milliseconds,
 * microseconds or nanoseconds since the epoch.
 */
export const timePart = (text: string, part: TimePart): number => {
  let date = written.exec(text);
  if (date === null) {
    const epoch = numberOf(text);
    if (!(epoch > 0)) return Number.NaN;
    const ms = epoch < 1e11 ? epoch * 1e3 : epoch < 1e14 ? epoch : epoch < 1e17 ? epoch / 1e3 : epoch / 1e6;
    date = written.exec(new Date(ms).toISOString());
  }
  const [year = 0, month = 0, day = 0, hour = Number.NaN, minute = Number.NaN] = (date ?? []).slice(1, 6).map(Number);
  return part === 'week' ? weekOf(year, month, day) : { year, month, day, hour, minute }[part];
};

const patternLeafTest = ({ pattern, cased }: Extract<ValueTest, { is: 'pattern' }>): LeafTest => {
  if (cased) {
    const fits = patternTest(pattern, same);
    return ({ text }) => fits(text);
  }
  const fits = patternTest(pattern, lowered);
  const number = hasWildcards(pattern) ? Number.NaN : numberOf(textOfPattern(pattern));
  // Rules may quote numbers: 5 also matches 5.0.
  return Number.isNaN(number) || String(number) !== textOfPattern(pattern)
    ? ({ low }) => fits(low)
    : ({ low }) => fits(low) || (low.includes('.') && numberOf(low) === number);
};

const isPlaced = (text: string, expected: string, place: Place | undefined): boolean => {
  switch (place) {
    case 'contains':
      return text.includes(expected);
    case 'startswith':
      return text.startsWith(expected);
    case 'endswith':
      return text.endsWith(expected);
    default:
      return text === expected;
  }
};

const fieldLeafTest =
  ({ names, place, cased }: Extract<ValueTest, { is: 'field' }>): LeafTest =>
  (leaf, other) => {
    for (let found = other(names); found !== undefined; found = found.next) {
      const fits = cased ? isPlaced(leaf.text, found.text, place) : isPlaced(leaf.low, found.low, place);
      if (fits && !found.isNull) return true;
    }
    return false;
  };

/** Returns a test of one value that is not null. */
export const leafTest = (test: ValueTest): LeafTest => {
  switch (test.is) {
    case 'pattern':
      return patternLeafTest(test);
    case 'number':
      return ({ text }) => numberOf(text) === test.value;
    case 'order':
      return ({ text }) => compare(test.order, numberOf(text), test.value);
    case 'time':
      return ({ text }) => compare(test.order, timePart(text, test.part), test.value);
    case 'regex':
      return ({ text }) => test.regex.test(text);
    case 'network':
      return ({ text }) => test.has(text);
    case 'field':
      return fieldLeafTest(test);
    default:
      return () => false;
  }
};

/** Returns one test for all values of an item. Texts for equality are looked up in one set. */
export const leafTests = ({ values }: ItemTest): LeafTest => {
  const equal = new Set<string>();
  const rest: LeafTest[] = [];
  for (const { test } of values) {
    if (test.is === 'null' || test.is === 'exists') continue;
    if (
      test.is === 'pattern' &&
      !test.cased &&
      !hasWildcards(test.pattern) &&
      Number.isNaN(numberOf(textOfPattern(test.pattern)))
    )
      equal.add(lowered(textOfPattern(test.pattern)));
    else rest.push(leafTest(test));
  }
  if (equal.size > 0) rest.unshift(({ low }) => equal.has(low));
  const [only, second] = rest;
  if (only === undefined) return () => false;
  if (second === undefined) return only;
  return (leaf, other) => {
    for (let at = 0; at < rest.length; at++) if ((rest[at] as LeafTest)(leaf, other)) return true;
    return false;
  };
};
