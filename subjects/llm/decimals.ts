/** Exact decimals: integers of the unit 10^-18, the smallest that a price per million tokens needs. */
import { costDecimals } from '../../schemas/llm-calls.ts';

/** Decimals of a price per million tokens. */
export const rateDecimals = 12;

/**
 * Returns a price per million as an integer of 10^-12. Numbers of the price table are floats; digits beyond the
 * twelfth decimal are noise of their arithmetic.
 */
export const parseRate = (rate: number | string): bigint => {
  const [whole = '0', fraction = ''] = (typeof rate === 'number' ? rate.toFixed(rateDecimals) : rate).split('.');
  return BigInt(whole + fraction.padEnd(rateDecimals, '0'));
};

/** Formats an integer of 10^-18 as the shortest decimal text. */
export const formatDecimal = (units: bigint): string => {
  const digits = String(units < 0n ? -units : units).padStart(costDecimals + 1, '0');
  let fraction = digits.slice(-costDecimals);
  while (fraction.endsWith('0')) fraction = fraction.slice(0, -1);
  const whole = digits.slice(0, -costDecimals);
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
};

/** Parses a decimal text with at most 18 decimals. */
export const parseDecimal = (text: string): bigint => {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.slice(0, costDecimals).padEnd(costDecimals, '0'));
};

/** Formats a price per million, an integer of 10^-12. */
export const formatRate = (rate: bigint): string => formatDecimal(rate * 10n ** BigInt(costDecimals - rateDecimals));
