/** Rounding of figures for display. */

/** Digits beyond which sums and differences of doubles are noise. */
const computedDigits = 12;
/** Maximum number of significant digits of a double. */
const maxDigits = 15;

/**
 * Returns a computed figure without floating point noise: 6.999999999998056 becomes 7. Do not use it for stored values;
 * integers are unchanged.
 */
export const withoutNoise = (value: number): number => {
  if (!Number.isFinite(value) || Number.isInteger(value)) return value;
  return Number(value.toPrecision(Math.abs(value) < 10 ** computedDigits ? computedDigits : maxDigits));
};

/** Formats a figure with a readable number of digits. */
export const formatShort = (value: number): string => String(Number(value.toPrecision(4)));
