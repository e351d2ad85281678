/** Formats values like Go's `printf`. */
import { TemplateError } from './errors.ts';
import {
  formatExponent,
  formatFloat,
  formatValue,
  getGoTypeName,
  toNumber,
  trimTrailingZeros,
  type Value,
} from './values.ts';

interface Verb {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
  readonly verb: string;
}

/** Maximum width, so that a short template cannot produce a long text. */
const maxWidth = 1000;

const formatExponential = (value: number, precision: number): string => {
  const [digits = '', power = '+0'] = value.toExponential(Math.min(precision, 100)).split('e');
  return `${digits}e${formatExponent(power)}`;
};

/** Formats a number with this many significant digits, as `%.4g` does. */
export const formatSignificant = (value: number, digits: number): string => {
  if (!Number.isFinite(value) || value === 0) return formatFloat(value);
  const precision = Math.min(Math.max(digits, 1), 100);
  const [rounded = '', power = '+0'] = value.toExponential(precision - 1).split('e');
  const exponent = Number(power);
  if (exponent < -4 || exponent >= precision) {
    const trimmed = rounded.includes('.') ? trimTrailingZeros(rounded) : rounded;
    return `${trimmed}e${formatExponent(power)}`;
  }
  const fixed = value.toFixed(Math.min(Math.max(precision - 1 - exponent, 0), 100));
  return fixed.includes('.') ? trimTrailingZeros(fixed) : fixed;
};

const formatFloatByVerb = (value: number, { verb, precision }: Verb): string | undefined => {
  if (!'eEfFgGv'.includes(verb)) return undefined;
  if (!Number.isFinite(value)) return formatFloat(value);
  const kind = verb.toLowerCase();
  const text =
    kind === 'e'
      ? formatExponential(value, precision ?? 6)
      : kind === 'f'
        ? formatFixed(value, precision ?? 6)
        : precision === undefined
          ? formatFloat(value)
          : formatSignificant(value, precision);
  return verb === 'E' || verb === 'G' ? text.toUpperCase() : text;
};

/**
 * Formats a number with a fixed number of decimal places. Unlike `toFixed`, it uses no exponents from 1e21 on, and
 * rounds half to even.
 */
const formatFixed = (value: number, precision: number): string => {
  const decimals = Math.min(precision, 60);
  if (Math.abs(value) < 1e21) {
    const text = value.toFixed(decimals);
    const exact = value.toFixed(100);
    const truncated = exact.slice(0, exact.indexOf('.') + (decimals === 0 ? 0 : decimals + 1));
    // Go rounds half to even, `toFixed` half away from zero.
    const isHalf = /^5?0*$/.test(exact.slice(exact.indexOf('.') + 1 + decimals)) && text !== truncated;
    return isHalf && /[02468]$/.test(truncated) ? truncated : text;
  }
  return BigInt(value).toString() + (precision > 0 ? `.${'0'.repeat(precision)}` : '');
};

const bases: Readonly<Record<string, number>> = { b: 2, o: 8, x: 16, X: 16 };

const formatInteger = (value: bigint, { verb }: Verb): string | undefined => {
  if (verb === 'd' || verb === 'v') return value.toString();
  if (verb === 'c') return String.fromCodePoint(Number(value < 0n || value > 0x10_ff_ffn ? 0xff_fdn : value));
  const base = Object.hasOwn(bases, verb) ? bases[verb] : undefined;
  const text = base === undefined ? undefined : value.toString(base);
  return verb === 'X' ? text?.toUpperCase() : text;
};

const formatString = (value: string, { verb, precision }: Verb): string | undefined => {
  const truncated = precision === undefined ? value : [...value].slice(0, precision).join('');
  if (verb === 's' || verb === 'v') return truncated;
  if (verb === 'q') return JSON.stringify(truncated);
  const bytes = Buffer.from(truncated, 'utf8').toString('hex');
  return verb === 'x' ? bytes : verb === 'X' ? bytes.toUpperCase() : undefined;
};

/** Returns undefined if the verb does not apply to the value. */
const formatByVerb = (value: Value, verb: Verb): string | undefined => {
  switch (typeof value) {
    case 'number':
      return formatFloatByVerb(value, verb);
    case 'bigint':
      return formatInteger(value, verb);
    case 'string':
      return formatString(value, verb);
    case 'boolean':
      return 'tv'.includes(verb.verb) ? formatValue(value) : undefined;
    default:
      return 'vs'.includes(verb.verb) ? formatValue(value) : undefined;
  }
};

/** Formats a value. Go formats a missing value as `%!f(<nil>)`, but here an alert without a value is valid. */
const formatArgument = (value: Value, verb: Verb): string => {
  if (verb.verb === 'T') return getGoTypeName(value);
  if (value === null) return formatValue(value);
  return formatByVerb(value, verb) ?? `%!${verb.verb}(${getGoTypeName(value)}=${formatValue(value)})`;
};

const pad = (text: string, value: Value, { flags, width, verb }: Verb): string => {
  const isNumber = (typeof value === 'number' || typeof value === 'bigint') && !text.startsWith('%!');
  const plus = isNumber && flags.includes('+') && !/^[+-]/.test(text) ? '+' : '';
  // Go shows the sign of a positive infinity only with the flag, and in %v.
  const signed = plus + (isNumber && verb !== 'v' && text === '+Inf' && !flags.includes('+') ? '+Inf' : text);
  const spaced = isNumber && flags.includes(' ') && !/^[+-]/.test(signed) ? ` ${signed}` : signed;
  const missingWidth = Math.max(0, width - [...spaced].length);
  if (flags.includes('-')) return spaced + ' '.repeat(missingWidth);
  if (flags.includes('0') && isNumber && isFiniteNumber(value)) {
    const sign = /^[+ -]/.exec(spaced)?.[0] ?? '';
    return sign + '0'.repeat(missingWidth) + spaced.slice(sign.length);
  }
  return ' '.repeat(missingWidth) + spaced;
};

const isFiniteNumber = (value: Value): boolean => Number.isFinite(toNumber(value));

const verbs = /%([-+ 0#]*)(\d*)(?:\.(\d*))?([^\d.]?)/gsu;

/** Formats values like Go's `Printf`, including its errors, such as `%!d(float64=1)`. */
export const printf = (format: string, values: readonly Value[]): string => {
  let argumentIndex = 0;
  const text = format.replace(verbs, (_, flags: string, width: string, precision: string | undefined, verb: string) => {
    if (verb === '%') return '%';
    if (verb === '') return '%!(NOVERB)';
    if (Number(width) > maxWidth || Number(precision ?? 0) > maxWidth)
      throw new TemplateError(`a number in a format exceeds the maximum width of ${maxWidth}`);
    if (argumentIndex >= values.length) return `%!${verb}(MISSING)`;
    const value = values[argumentIndex++] as Value;
    const spec = {
      flags,
      width: Number(width),
      verb,
      precision: precision === undefined ? undefined : Number(precision),
    };
    return pad(formatArgument(value, spec), value, spec);
  });
  if (argumentIndex >= values.length) return text;
  const extra = values
    .slice(argumentIndex)
    .map((value) => (value === null ? '<nil>' : `${getGoTypeName(value)}=${formatValue(value)}`));
  return `${text}%!(EXTRA ${extra.join(', ')})`;
};
