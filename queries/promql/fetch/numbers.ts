import { formatWithoutExponent } from '../syntax/numbers.ts';

/**
 * Formats a number like the values in Prometheus' responses: with an exponent below 1e-6 and from 1e21 on, otherwise
 * without.
 */
export const formatPrometheusNumber = (value: number): string => {
  const magnitude = Math.abs(value);
  if (
    Number.isNaN(value) ||
    magnitude === 0 ||
    magnitude === Number.POSITIVE_INFINITY ||
    (magnitude >= 1e-6 && magnitude < 1e21)
  )
    return formatWithoutExponent(value);
  return String(value).replace(/e([+-])(\d)$/, 'e$10$2');
};
