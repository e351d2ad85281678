/** Writes numbers as decimal text without creating a string. */

/** Returns the number of decimal digits of a non-negative 32-bit integer. */
const countDigits = (value: number): number => {
  let digits = 1;
  for (let bound = 10; value >= bound; bound *= 10) digits++;
  return digits;
};

/** Writes the last `digits` decimal digits of a 32-bit integer, padded with zeros. */
const writeDigits = (target: Uint8Array, start: number, value: number, digits: number): void => {
  for (let at = start + digits - 1, rest = value; at >= start; at--) {
    const next = (rest / 10) | 0;
    target[at] = 48 + rest - next * 10;
    rest = next;
  }
};

/** Maximum number of bytes that `writeDecimal` writes. */
export const maxDecimalLength = 17;

const scales = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000] as const;

/**
 * Writes a number as JavaScript does, if it has at most nine digits before and six after the decimal point. Returns the
 * position after it, or -1 if it needs more digits. Doubles distinguish all numbers of 15 digits, so the fewest
 * decimals that yield the value are those of its shortest text.
 */
export const writeDecimal = (target: Uint8Array, start: number, value: number): number => {
  const size = Math.abs(value);
  if (!(size < 1e9)) return -1;
  for (let decimalPlaces = 0; decimalPlaces < scales.length; decimalPlaces++) {
    const scale = scales[decimalPlaces] as number;
    const scaled = Math.round(size * scale);
    if (scaled / scale !== size) continue;
    const integerPart = size | 0;
    const digits = countDigits(integerPart);
    let at = start;
    if (value < 0) target[at++] = 0x2d;
    writeDigits(target, at, integerPart, digits);
    at += digits;
    if (decimalPlaces === 0) return at;
    target[at] = 0x2e;
    writeDigits(target, at + 1, scaled - integerPart * scale, decimalPlaces);
    return at + 1 + decimalPlaces;
  }
  return -1;
};
