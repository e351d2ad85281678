import { formatWithoutExponent } from '../syntax/numbers.ts';

/**
 * Formats a number like values in Prometheus' answers: with an exponent below 1e-6 and from 1e21 on, otherwise without.
 */
export const formatPrometheusNumber = (value: number): string => {
  const size = Math.abs(value);
  if (Number.isNaN(value) || size === 0 || size === Number.POSITIVE_INFINITY || (size >= 1e-6 && size < 1e21))
    return formatWithoutExponent(value);
  return String(value).replace(/e([+-])(\d)$/, 'e$10$2');
};
