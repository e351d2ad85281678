/** Writes numbers as decimal text without creating a string. */

/** Returns the number of decimal digits of a non-negative 32-bit integer. */
const countDigits = (value: number): number => {
  let digits = 1;
  for (let bound = 10; value >= bound; bound *= 10) digits++;
  return digits;
};

/** Writes the last `digits` decimal digits of a 32-bit integer, padded with zeros. */
const writeDigits = (target: Uint8Array, start: number, value: number, digits: number): void => {
  for (let position = start + digits - 1, remaining = value; position >= start; position--) {
    const quotient = (remaining / 10) | 0;
    target[position] = 48 + remaining - quotient * 10;
    remaining = quotient;
  }
};

/** Maximum number of bytes that `writeDecimal` writes. */
export const maxDecimalLength = 17;

const scales = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000] as const;

/**
 * Writes a number as JavaScript does, if it has at most nine digits before and six after the decimal point. Returns the
 * position after it, or -1 if it needs more digits. Doubles distinguish all numbers of up to 15 digits, so the
 * smallest number of decimals that yields the value is that of its shortest text.
 */
export const writeDecimal = (target: Uint8Array, start: number, value: number): number => {
  const magnitude = Math.abs(value);
  if (!(magnitude < 1e9)) return -1;
  for (let decimalPlaces = 0; decimalPlaces < scales.length; decimalPlaces++) {
    const scale = scales[decimalPlaces] as number;
    const scaledValue = Math.round(magnitude * scale);
    if (scaledValue / scale !== magnitude) continue;
    const integerPart = magnitude | 0;
    const digits = countDigits(integerPart);
    let position = start;
    if (value < 0) target[position++] = 0x2d;
    writeDigits(target, position, integerPart, digits);
    position += digits;
    if (decimalPlaces === 0) return position;
    target[position] = 0x2e;
    writeDigits(target, position + 1, scaledValue - integerPart * scale, decimalPlaces);
    return position + 1 + decimalPlaces;
  }
  return -1;
};
