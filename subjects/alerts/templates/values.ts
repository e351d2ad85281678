/** Template values and their Go formatting. Integers are `bigint`, other numbers `number`. */

import { trimTrailing } from '../../../schemas/text.ts';
import { TemplateError } from './errors.ts';

export type Value = string | number | bigint | boolean | null | Date | List | ReadonlyMap<string, Value>;
type List = readonly Value[];

/** A value with a fixed set of fields, like a Go struct: a reference to another field is an error. */
export class Struct extends Map<string, Value> {}

/** Returns a map of texts, such as labels. */
export const toMap = (texts: Readonly<Record<string, string>>): ReadonlyMap<string, Value> =>
  new Map(Object.entries(texts).sort(([left], [right]) => (left < right ? -1 : 1)));

const isList = (value: Value): value is List => Array.isArray(value);

/** Returns whether `if` and `with` treat a value as true. */
export const isTrue = (value: Value): boolean => {
  if (value instanceof Map) return value.size > 0;
  if (isList(value)) return value.length > 0;
  return value instanceof Date || Boolean(value);
};

/** Returns Go's shortest format of a double. */
export const formatFloat = (value: number): string => {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  if (Number.isNaN(value) || value === 0) return Object.is(value, -0) ? '-0' : String(value);
  const [digits = '', power = '+0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${digits}e${formatExponent(power)}`;
};

/** Formats an exponent with at least two digits: `+7` is `+07`. */
export const formatExponent = (power: string): string => `${power[0]}${power.slice(1).padStart(2, '0')}`;

/** Removes trailing zeros of a fraction. */
export const trimTrailingZeros = (text: string): string => trimTrailing(trimTrailing(text, '0'), '.');

/** Formats a time like Go's `String`. */
export const formatTime = (value: Date): string => {
  const text = value.toISOString();
  const fraction = trimTrailingZeros(text.slice(19, -1));
  return `${text.slice(0, 10)} ${text.slice(11, 19)}${fraction} +0000 UTC`;
};

/** Formats a value like `print` and actions. */
export const formatValue = (value: Value): string => {
  if (value === null) return '<no value>';
  if (typeof value === 'number') return formatFloat(value);
  if (value instanceof Date) return formatTime(value);
  if (value instanceof Map)
    return `map[${[...value].map(([name, element]) => `${name}:${formatValue(element)}`).join(' ')}]`;
  if (isList(value)) return `[${value.map(formatValue).join(' ')}]`;
  return String(value);
};

/** Returns the Go type name of a value. */
export const getGoTypeName = (value: Value): string => {
  if (value === null) return '<nil>';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'number') return 'float64';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'boolean') return 'bool';
  return value instanceof Date ? 'time.Time' : 'map[string]string';
};

/** Returns the numeric argument of Prometheus's functions: a number, or a numeric text. */
export const toNumber = (value: Value): number => {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'string') {
    const special = /^([+-]?)(?:inf(?:inity)?)$/i.exec(value);
    if (special !== null) return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    if (/^nan$/i.test(value)) return Number.NaN;
    if (value !== '' && !/\s/.test(value) && !Number.isNaN(Number(value))) return Number(value);
  }
  throw new TemplateError(`${typeof value === 'string' ? JSON.stringify(value) : formatValue(value)} is not a number`);
};

export const requireString = (value: Value): string => {
  if (typeof value !== 'string') throw new TemplateError(`${formatValue(value)} is not a string`);
  return value;
};

/** Returns the samples of a `query` result, with `Labels` and `Value`. */
export const requireSamples = (value: Value): readonly Struct[] => {
  if (!isList(value) || !value.every((element) => element instanceof Struct))
    throw new TemplateError(`${formatValue(value)} is not a vector of a query`);
  return value as readonly Struct[];
};

export const requireSample = (value: Value): Struct => {
  if (!(value instanceof Struct)) throw new TemplateError(`${formatValue(value)} is not a sample of a query`);
  return value;
};

export const requireInteger = (value: Value): number => {
  if (typeof value !== 'bigint') throw new TemplateError(`${formatValue(value)} is not an integer`);
  return Number(value);
};
