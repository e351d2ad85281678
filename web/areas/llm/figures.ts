/** Texts of costs and tokens */
import { formatNumber } from '../../charts/values.ts';
import type { LlmCost, LlmRequestItem } from './calls.ts';

type Amount = LlmCost['total']['costs'][number];

const formatters = new Map<string, Intl.NumberFormat>();

/** Formats an amount for people: `$0.00018`, `€12.30`. Its exact digits are in the tooltip. */
export const formatAmount = ({ currency, amount }: Amount): string => {
  const value = Number(amount);
  const isSmall = Math.abs(value) > 0 && Math.abs(value) < 1;
  const key = `${currency} ${isSmall}`;
  const formatter =
    formatters.get(key) ??
    new Intl.NumberFormat('en', {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
      ...(isSmall ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 2 }),
    });
  formatters.set(key, formatter);
  return formatter.format(value);
};

export const formatAmounts = (amounts: readonly Amount[]): string =>
  amounts.length === 0 ? '–' : amounts.map(formatAmount).join(' + ');

export const formatTokens = (count: number | string): string => formatNumber(Number(count));

/** Returns the cost of a request, or why it has none. */
export const formatCost = ({ cost }: Pick<LlmRequestItem, 'cost'>): string =>
  cost === null ? 'unpriced' : formatAmount(cost);

/** Returns the currency with most groups, in which charts are drawn: amounts in different currencies are not added. */
export const getMainCurrency = (amounts: readonly Amount[]): string =>
  [...amounts].sort((left, right) => Number(right.amount) - Number(left.amount))[0]?.currency ?? 'USD';

export const getAmount = (amounts: readonly Amount[], currency: string): number =>
  Number(amounts.find((amount) => amount.currency === currency)?.amount ?? 0);

/** Relative change; undefined without a previous value. */
export const computeChange = (current: number, previous: number | undefined): number | undefined =>
  previous === undefined || previous === 0 ? undefined : current / previous - 1;

/** Titles of the kinds of tokens. */
export const tokenTitles = {
  input: 'Uncached input',
  cacheRead: 'Cache read',
  cacheWrite: 'Cache write',
  cacheWrite1h: 'Cache write, 1 hour',
  inputAudio: 'Input audio',
  inputImage: 'Input images',
  output: 'Output',
  reasoning: 'Reasoning',
  outputAudio: 'Output audio',
  outputImage: 'Output images',
} as const;

/** Returns the kinds of tokens with a count, by title. */
export const listTokenKinds = (
  tokens: Readonly<Record<keyof typeof tokenTitles, number | string>>,
): [string, string][] =>
  (Object.entries(tokenTitles) as [keyof typeof tokenTitles, string][])
    .filter(([kind]) => Number(tokens[kind]) > 0)
    .map(([kind, title]) => [title, formatTokens(tokens[kind])]);
