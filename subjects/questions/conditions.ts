/** Formats conditions of the search language */

import type { Having } from '../../queries/query.ts';
import { parseDuration } from '../../queries/time.ts';
import type { CatalogueField } from './catalogue.ts';
import type { Condition, Operator } from './marks.ts';

const bareName = /^[A-Za-z_@$][\w.@$/-]*$/;
/** Values that need no quotes. A quoted number is matched as text. */
const bareValue = /^\w[\w.-]*$/;
const searchKeywords: ReadonlySet<string> = new Set(['AND', 'OR', 'NOT', 'TO']);

const quote = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`;
export const formatValue = (value: string): string =>
  bareValue.test(value) && !searchKeywords.has(value) ? value : quote(value);
export const formatName = (name: string): string => (bareName.test(name) ? name : quote(name));

export const createEqualityCondition = (field: string, value: string): Condition => ({
  search: `${formatName(field)}:${formatValue(value)}`,
  field,
  value,
});
export const createExistenceCondition = (field: string): Condition => ({ search: `${formatName(field)}:*`, field });
/** Returns a condition that matches the words of a text in order; for a field, the text anywhere in its value. */
export const createTextCondition = (text: string, field?: string): Condition =>
  field === undefined || field === 'body'
    ? { search: quote(text), field: 'body' }
    : { search: `${formatName(field)}:/(?i)${escapePattern(text)}/`, field };

/** Escapes a text for a regular expression between slashes, in which slashes and spaces are delimiters. */
const escapePattern = (text: string): string =>
  text.replace(/[^\p{L}\p{N}_]/gu, (character) =>
    character === ' ' ? '\\s' : `\\x{${character.codePointAt(0)?.toString(16)}}`,
  );

export const negateCondition = ({ search, field }: Condition): Condition => ({
  search: search.startsWith('NOT ') ? search.slice(4) : `NOT ${search}`,
  field,
});

/**
 * Merges several values of one field into an alternative. A record has one severity and status, so "and" between two
 * values also means "or".
 */
export const mergeAlternatives = (
  left: Condition,
  right: Condition,
  conjunction: 'or' | 'and' | undefined,
): Condition | undefined => {
  if (left.field !== right.field) return undefined;
  if (left.search === right.search) return left;
  if (left.value === undefined || right.value === undefined)
    return conjunction === 'or' ||
      left.field === 'severity' ||
      (left.isNumerator === true && right.isNumerator === true)
      ? { ...left, search: `(${left.search} OR ${right.search})` }
      : undefined;
  const [name, existingValues = ''] = splitAt(left.search, ':', left.field);
  const values = existingValues.startsWith('(') ? existingValues.slice(1, -1) : existingValues;
  return { ...left, search: `${name}:(${values} OR ${formatValue(right.value)})` };
};

const splitAt = (search: string, separator: string, field: string): [string, string] => {
  const separatorIndex = search.indexOf(separator, formatName(field).length);
  return [search.slice(0, separatorIndex), search.slice(separatorIndex + 1)];
};

const operatorSymbols: Readonly<Record<'above' | 'below' | 'from' | 'upto', string>> = {
  above: '>',
  below: '<',
  from: '>=',
  upto: '<=',
};

/** Comparisons of numbers by the operators of questions. */
export const comparisonsByOperator: Readonly<Partial<Record<Operator, Having['operator']>>> = {
  above: 'above',
  below: 'below',
  from: 'at-least',
  upto: 'at-most',
};

export interface Quantity {
  readonly value: number;
  readonly unit: string;
}

const timeUnits: Readonly<Record<string, string>> = {
  ns: 'ns',
  nanosecond: 'ns',
  us: 'us',
  µs: 'us',
  microsecond: 'us',
  ms: 'ms',
  msec: 'ms',
  millisecond: 'ms',
  s: 's',
  sec: 's',
  second: 's',
  m: 'm',
  min: 'm',
  minute: 'm',
  h: 'h',
  hour: 'h',
  day: 'd',
  d: 'd',
};
const sizeUnits: Readonly<Record<string, number>> = {
  b: 1,
  byte: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
};
const multipliers: Readonly<Record<string, number>> = { k: 1e3, thousand: 1e3, million: 1e6 };

const find = (sizes: Readonly<Record<string, number>>, unit: string): number | undefined =>
  Object.hasOwn(sizes, unit) ? sizes[unit] : undefined;
/** Returns the number of bytes of a unit; `undefined` for other units. */
export const getBytes = (unit: string): number | undefined => find(sizeUnits, unit);
/** Returns the number that `k` or `million` stands for. */
export const getMultiplier = (unit: string): number | undefined => find(multipliers, unit);
/** Returns the number of milliseconds of a unit; `undefined` for other units. */
export const getMilliseconds = (unit: string): number | undefined => {
  const ns = Object.hasOwn(timeUnits, unit) ? parseDuration(`1${timeUnits[unit]}`) : undefined;
  return ns === undefined ? undefined : Number(ns) / 1e6;
};

const getSize = (unit: string): number | undefined => getBytes(unit) ?? getMultiplier(unit);

/** Returns whether a word is a unit of quantities. */
export const isUnit = (word: string): boolean => Object.hasOwn(timeUnits, word) || getSize(word) !== undefined;

/** Returns a quantity in the unit of a field; `undefined` if its unit does not apply to that field. */
const formatQuantity = ({ value, unit }: Quantity, isDuration: boolean): string | undefined => {
  if (isDuration) {
    const text = Object.hasOwn(timeUnits, unit) ? `${value}${timeUnits[unit]}` : undefined;
    return text !== undefined && parseDuration(text) !== undefined ? text : undefined;
  }
  if (unit === '' || unit === '%') return String(value);
  const size = getSize(unit);
  return size === undefined ? undefined : String(value * size);
};

/** Returns a comparison with a quantity, or two for `between`; `undefined` if the unit does not apply. */
export const createComparisonCondition = (
  field: CatalogueField,
  operator: Operator,
  quantities: readonly Quantity[],
): Condition | undefined => {
  const isDuration = field.name === 'duration' && field.isNumber;
  // In "between 100 and 500 ms", the unit of the second number applies to both.
  const unit = quantities.at(-1)?.unit ?? '';
  const texts = quantities.map((quantity) => formatQuantity({ ...quantity, unit: quantity.unit || unit }, isDuration));
  if (texts.includes(undefined)) return undefined;
  const name = formatName(field.name);
  const [first = '', second = ''] = texts as string[];
  if (operator === 'between') return { search: `${name}:[${first} TO ${second}]`, field: field.name };
  if (operator === 'is') return { search: `${name}:${first}`, field: field.name, value: first };
  if (operator === 'not') return { search: `NOT ${name}:${first}`, field: field.name };
  if (operator === 'contains') return undefined;
  const condition = { search: `${name}:${operatorSymbols[operator]}${first}`, field: field.name };
  const comparisonOperator = comparisonsByOperator[operator];
  const value = isDuration ? Number(parseDuration(first)) : Number(first);
  return comparisonOperator === undefined
    ? condition
    : { ...condition, comparison: { operator: comparisonOperator, value } };
};
