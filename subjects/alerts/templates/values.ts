/** Template values and their Go formatting. Integers are `bigint`, other numbers `number`. */

import { withoutTrailing } from '../../../schemas/text.ts';
import { TemplateError } from './errors.ts';

export type Value = string | number | bigint | boolean | null | Date | Items | ReadonlyMap<string, Value>;
type Items = readonly Value[];

/** A value with a fixed set of fields, like a Go struct: a reference to another field is an error. */
export class Fields extends Map<string, Value> {}

/** Returns a map of texts, such as labels. */
export const mapOf = (texts: Readonly<Record<string, string>>): ReadonlyMap<string, Value> =>
  new Map(Object.entries(texts).sort(([left], [right]) => (left < right ? -1 : 1)));

const isItems = (value: Value): value is Items => Array.isArray(value);

/** Returns whether `if` and `with` treat a value as true. */
export const isTrue = (value: Value): boolean => {
  if (value instanceof Map) return value.size > 0;
  if (isItems(value)) return value.length > 0;
  return value instanceof Date || Boolean(value);
};

/** Returns Go's shortest format of a double. */
export const floatText = (value: number): string => {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  if (Number.isNaN(value) || value === 0) return Object.is(value, -0) ? '-0' : String(value);
  const [digits = '', power = '+0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${digits}e${exponentText(power)}`;
};

/** Formats `+7` as `+07`. */
export const exponentText = (power: string): string => `${power[0]}${power.slice(1).padStart(2, '0')}`;

/** Removes trailing zeros of a fraction. */
export const withoutZeros = (text: string): string => withoutTrailing(withoutTrailing(text, '0'), '.');

/** Formats a time like Go's `String`. */
export const timeText = (value: Date): string => {
  const text = value.toISOString();
  const fraction = withoutZeros(text.slice(19, -1));
  return `${text.slice(0, 10)} ${text.slice(11, 19)}${fraction} +0000 UTC`;
};

/** Formats a value like `print` and actions. */
export const textOf = (value: Value): string => {
  if (value === null) return '<no value>';
  if (typeof value === 'number') return floatText(value);
  if (value instanceof Date) return timeText(value);
  if (value instanceof Map) return `map[${[...value].map(([name, each]) => `${name}:${textOf(each)}`).join(' ')}]`;
  if (isItems(value)) return `[${value.map(textOf).join(' ')}]`;
  return String(value);
};

/** Returns the Go type name of a value. */
export const typeOf = (value: Value): string => {
  if (value === null) return '<nil>';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'number') return 'float64';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'boolean') return 'bool';
  return value instanceof Date ? 'time.Time' : 'map[string]string';
};

/** Returns the numeric argument of Prometheus's functions: a number, or a numeric text. */
export const figureOf = (value: Value): number => {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'string') {
    const special = /^([+-]?)(?:inf(?:inity)?)$/i.exec(value);
    if (special !== null) return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    if (/^nan$/i.test(value)) return Number.NaN;
    if (value !== '' && !/\s/.test(value) && !Number.isNaN(Number(value))) return Number(value);
  }
  throw new TemplateError(`${typeof value === 'string' ? JSON.stringify(value) : textOf(value)} is not a number`);
};

export const textIn = (value: Value): string => {
  if (typeof value !== 'string') throw new TemplateError(`${textOf(value)} is not a string`);
  return value;
};

/** Returns the samples of a `query` result, with `Labels` and `Value`. */
export const samplesOf = (value: Value): readonly Fields[] => {
  if (!isItems(value) || !value.every((each) => each instanceof Fields))
    throw new TemplateError(`${textOf(value)} is not a vector of a query`);
  return value as readonly Fields[];
};

export const sampleOf = (value: Value): Fields => {
  if (!(value instanceof Fields)) throw new TemplateError(`${textOf(value)} is not a sample of a query`);
  return value;
};

export const wholeOf = (value: Value): number => {
  if (typeof value !== 'bigint') throw new TemplateError(`${textOf(value)} is not an integer`);
  return Number(value);
};
