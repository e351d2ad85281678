/** Compiled tests of values */
import type { EventValue } from './event.ts';
import type { Place, TimePart } from './modifiers.ts';
import { createPatternTest, foldCase, hasWildcards, textOfPattern } from './pattern.ts';
import type { ItemTest, ValueTest } from './tree.ts';

/** A test of a resolved value */
export type LeafTest = (leaf: EventValue, other: (names: readonly string[]) => EventValue | undefined) => boolean;

const numberPattern = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** Returns the number of a text; `NaN` if it is not a number. */
export const parseNumber = (text: string): number => (numberPattern.test(text) ? Number(text) : Number.NaN);

const identity = (text: string): string => text;

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

const timePattern = /^(\d{4})[-/](\d\d)[-/](\d\d)(?:[T ](\d\d):(\d\d))?/;
const dayMs = 86_400_000;

/** Returns the ISO 8601 week of a day. */
const isoWeek = (year: number, month: number, day: number): number => {
  const date = Date.UTC(year, month - 1, day);
  const thursday = date + (3 - ((new Date(date).getUTCDay() + 6) % 7)) * dayMs;
  return Math.floor((thursday - Date.UTC(new Date(thursday).getUTCFullYear(), 0, 1)) / dayMs / 7) + 1;
};

/**
 * Returns a part of a time as written, without time zone conversion. A number is read as seconds, milliseconds,
 * microseconds or nanoseconds since the epoch.
 */
export const extractTimePart = (text: string, part: TimePart): number => {
  let date = timePattern.exec(text);
  if (date === null) {
    const epoch = parseNumber(text);
    if (!(epoch > 0)) return Number.NaN;
    const ms = epoch < 1e11 ? epoch * 1e3 : epoch < 1e14 ? epoch : epoch < 1e17 ? epoch / 1e3 : epoch / 1e6;
    date = timePattern.exec(new Date(ms).toISOString());
  }
  const [year = 0, month = 0, day = 0, hour = Number.NaN, minute = Number.NaN] = (date ?? []).slice(1, 6).map(Number);
  return part === 'week' ? isoWeek(year, month, day) : { year, month, day, hour, minute }[part];
};

const patternLeafTest = ({ pattern, cased }: Extract<ValueTest, { is: 'pattern' }>): LeafTest => {
  if (cased) {
    const fits = createPatternTest(pattern, identity);
    return ({ text }) => fits(text);
  }
  const fits = createPatternTest(pattern, foldCase);
  const number = hasWildcards(pattern) ? Number.NaN : parseNumber(textOfPattern(pattern));
  // Rules may quote numbers: 5 also matches 5.0.
  return Number.isNaN(number) || String(number) !== textOfPattern(pattern)
    ? ({ low }) => fits(low)
    : ({ low }) => fits(low) || (low.includes('.') && parseNumber(low) === number);
};

const matchesAtPlace = (text: string, expected: string, place: Place | undefined): boolean => {
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
      const fits = cased ? matchesAtPlace(leaf.text, found.text, place) : matchesAtPlace(leaf.low, found.low, place);
      if (fits && !found.isNull) return true;
    }
    return false;
  };

/** Returns a test of one value that is not null. */
export const createLeafTest = (test: ValueTest): LeafTest => {
  switch (test.is) {
    case 'pattern':
      return patternLeafTest(test);
    case 'number':
      return ({ text }) => parseNumber(text) === test.value;
    case 'order':
      return ({ text }) => compare(test.order, parseNumber(text), test.value);
    case 'time':
      return ({ text }) => compare(test.order, extractTimePart(text, test.part), test.value);
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
export const createLeafTests = ({ values }: ItemTest): LeafTest => {
  const equal = new Set<string>();
  const rest: LeafTest[] = [];
  for (const { test } of values) {
    if (test.is === 'null' || test.is === 'exists') continue;
    if (
      test.is === 'pattern' &&
      !test.cased &&
      !hasWildcards(test.pattern) &&
      Number.isNaN(parseNumber(textOfPattern(test.pattern)))
    )
      equal.add(foldCase(textOfPattern(test.pattern)));
    else rest.push(createLeafTest(test));
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
