/**
 * Counts of events in a slice. A count has a fraction if the increase of a counter is spread over several slices, or if
 * a query returns one. Fractions are stored in billionths, so counts are added without rounding.
 */
import { decimalToFraction } from './fraction.ts';

/** Parts of one event. */
export const countParts = 1_000_000_000n;
const fractionDigits = 9;
/** Decimal digits that a double represents exactly. */
const significantDigits = 15;

/** Returns the count as a decimal with at most nine fraction digits, without the error of its binary calculation. */
export const roundCount = (value: number): number =>
  Number.isInteger(value) ? value : Number(Number(value.toFixed(fractionDigits)).toPrecision(significantDigits));

/** Splits a rounded count into whole events and billionths. */
export const splitCount = (count: number): { readonly wholeEvents: number; readonly billionths: number } => {
  if (Number.isInteger(count)) return { wholeEvents: count, billionths: 0 };
  const { numerator, denominator } = decimalToFraction(count);
  const parts = (numerator * countParts) / denominator;
  return { wholeEvents: Number(parts / countParts), billionths: Number(parts % countParts) };
};

/** Returns the count of whole events and billionths, both as decimal texts. */
export const parseCount = (wholeEvents: string, billionths: string): number =>
  Number(`${wholeEvents}.${billionths.padStart(fractionDigits, '0')}`);
