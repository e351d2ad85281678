/** Rounds numbers for display. */

/** Digits beyond which sums and differences of doubles are noise. */
const computedDigits = 12;
/** Maximum number of significant digits of a double. */
const maxDigits = 15;

/**
 * Removes floating point noise from a computed number: 6.999999999998056 becomes 7. Integers are unchanged. Not for
 * stored values.
 */
export const roundNoise = (value: number): number => {
  if (!Number.isFinite(value) || Number.isInteger(value)) return value;
  return Number(value.toPrecision(Math.abs(value) < 10 ** computedDigits ? computedDigits : maxDigits));
};

/** Formats a number with four significant digits. */
export const formatShort = (value: number): string => String(Number(value.toPrecision(4)));
