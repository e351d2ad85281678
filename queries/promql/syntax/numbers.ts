/** Parses a PromQL number: decimal, hexadecimal, octal, with underscores, Inf or NaN. Undefined if it is invalid. */
export const parsePromqlNumber = (text: string): number | undefined => {
  const sign = text.startsWith('-') ? -1 : 1;
  const unsigned = /^[+-]/.test(text) ? text.slice(1) : text;
  if (/^nan$/i.test(unsigned)) return Number.NaN;
  if (/^inf(inity)?$/i.test(unsigned)) return sign * Number.POSITIVE_INFINITY;
  const digits = unsigned.replaceAll(/(?<=[\da-fx])_(?=[\da-f])/gi, '');
  if (/^0(x[\da-f]+|o[0-7]+|b[01]+)$/i.test(digits)) return sign * Number(digits);
  if (/^0[0-7]+$/.test(digits)) return sign * Number.parseInt(digits, 8);
  return /^(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(digits) ? sign * Number(digits) : undefined;
};

const formatNonFinite = (value: number): string | undefined => {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return undefined;
  return value > 0 ? '+Inf' : '-Inf';
};

/** Returns the shortest digits that parse to the value, and the position of the decimal point. */
const splitDigits = (value: number): { digits: string; pointPosition: number } => {
  const [mantissa = '', exponent = '0'] = Math.abs(value).toExponential().split('e');
  return { digits: mantissa.replace('.', ''), pointPosition: Number(exponent) + 1 };
};

const formatSign = (value: number): string => (value < 0 || Object.is(value, -0) ? '-' : '');

/** Formats a value without an exponent, in the fewest digits that parse to it, as in Prometheus' responses. */
export const formatWithoutExponent = (value: number): string => {
  const nonFiniteText = formatNonFinite(value);
  if (nonFiniteText !== undefined) return nonFiniteText;
  const text = String(value);
  if (!text.includes('e')) return Object.is(value, -0) ? '-0' : text;
  const { digits, pointPosition } = splitDigits(value);
  if (pointPosition <= 0) return `${formatSign(value)}0.${'0'.repeat(-pointPosition)}${digits}`;
  return `${formatSign(value)}${digits.padEnd(pointPosition, '0')}`;
};

/** Formats a value with an exponent if that is below -4 or above 5, as in Prometheus' messages. */
export const formatWithExponent = (value: number, maxDigits?: number): string => {
  const nonFiniteText = formatNonFinite(value);
  if (nonFiniteText !== undefined) return nonFiniteText;
  if (value === 0) return formatWithoutExponent(value);
  const rounded = maxDigits === undefined ? value : Number(value.toPrecision(maxDigits));
  const { digits, pointPosition } = splitDigits(rounded);
  const exponent = pointPosition - 1;
  if (exponent >= -4 && exponent < Math.min(6, maxDigits === undefined ? 6 : Math.max(maxDigits, 0)))
    return formatWithoutExponent(rounded);
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  const exponentDigits = String(Math.abs(exponent)).padStart(2, '0');
  return `${formatSign(value)}${digits[0]}${fraction}e${exponent < 0 ? '-' : '+'}${exponentDigits}`;
};
