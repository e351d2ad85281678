/** Compiled tests of values */
import type { EventValue } from './event.ts';
import type { PositionModifier, TimePart } from './modifiers.ts';
import { createPatternTest, foldCase, getPatternText, hasWildcards } from './pattern.ts';
import type { ItemTest, ValueTest } from './tree.ts';

/** A test of a resolved value */
export type LeafTest = (leaf: EventValue, other: (names: readonly string[]) => EventValue | undefined) => boolean;

const numberPattern = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** Returns the number of a text; `NaN` if it is not a number. */
export const parseNumber = (text: string): number => (numberPattern.test(text) ? Number(text) : Number.NaN);

const keepText = (text: string): string => text;

const compare = (order: string, left: number, right: number): boolean => {
  switch (order) {
    case 'lt':
      return left < right;
    case 'lte':
      return left <= right;
    case 'gt':
      return left > right;
    case 'gte':
      return left >= right;
    case 'neq':
      return left !== right;
    default:
      return left === right;
  }
};

const timePattern = /^(\d{4})[-/](\d\d)[-/](\d\d)(?:[T ](\d\d):(\d\d))?/;
const dayMs = 86_400_000;

/** Returns the ISO 8601 week of a day. */
const getIsoWeek = (year: number, month: number, day: number): number => {
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
  return part === 'week' ? getIsoWeek(year, month, day) : { year, month, day, hour, minute }[part];
};

const createPatternLeafTest = ({ pattern, isCaseSensitive }: Extract<ValueTest, { is: 'pattern' }>): LeafTest => {
  if (isCaseSensitive) {
    const isMatch = createPatternTest(pattern, keepText);
    return ({ text }) => isMatch(text);
  }
  const isMatch = createPatternTest(pattern, foldCase);
  const number = hasWildcards(pattern) ? Number.NaN : parseNumber(getPatternText(pattern));
  // Rules may quote numbers: 5 also matches 5.0.
  return Number.isNaN(number) || String(number) !== getPatternText(pattern)
    ? ({ foldedText }) => isMatch(foldedText)
    : ({ foldedText }) => isMatch(foldedText) || (foldedText.includes('.') && parseNumber(foldedText) === number);
};

const matchesAtPosition = (text: string, expected: string, position: PositionModifier | undefined): boolean => {
  switch (position) {
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

const createFieldLeafTest =
  ({ names, place: position, isCaseSensitive }: Extract<ValueTest, { is: 'field' }>): LeafTest =>
  (leaf, other) => {
    for (let otherValue = other(names); otherValue !== undefined; otherValue = otherValue.next) {
      const isMatch = isCaseSensitive
        ? matchesAtPosition(leaf.text, otherValue.text, position)
        : matchesAtPosition(leaf.foldedText, otherValue.foldedText, position);
      if (isMatch && !otherValue.isNull) return true;
    }
    return false;
  };

/** Returns a test of one value that is not null. */
export const createLeafTest = (test: ValueTest): LeafTest => {
  switch (test.is) {
    case 'pattern':
      return createPatternLeafTest(test);
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
      return createFieldLeafTest(test);
    default:
      return () => false;
  }
};

/** Returns one test for all values of an item. Texts for equality are looked up in one set. */
export const createLeafTests = ({ values }: ItemTest): LeafTest => {
  const exactTexts = new Set<string>();
  const otherTests: LeafTest[] = [];
  for (const { test } of values) {
    if (test.is === 'null' || test.is === 'exists') continue;
    if (
      test.is === 'pattern' &&
      !test.isCaseSensitive &&
      !hasWildcards(test.pattern) &&
      Number.isNaN(parseNumber(getPatternText(test.pattern)))
    )
      exactTexts.add(foldCase(getPatternText(test.pattern)));
    else otherTests.push(createLeafTest(test));
  }
  if (exactTexts.size > 0) otherTests.unshift(({ foldedText }) => exactTexts.has(foldedText));
  const [onlyTest, second] = otherTests;
  if (onlyTest === undefined) return () => false;
  if (second === undefined) return onlyTest;
  return (leaf, other) => {
    for (let index = 0; index < otherTests.length; index++)
      if ((otherTests[index] as LeafTest)(leaf, other)) return true;
    return false;
  };
};
