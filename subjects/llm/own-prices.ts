/** Prices that an organization sets: their periods, the lookup for a call, and their rows for queries. */
import { createHash } from 'node:crypto';
import type { LlmPrice, LlmPriceFields, PriceMatch, PriceRates } from '../../schemas/resources/llm-price.ts';
import { type FoundPrice, findFirstTablePrice } from './built-in-prices.ts';
import { formatDecimal, parseRate } from './decimals.ts';
import { completeRates, type Price, type RateList, type RateTier } from './prices.ts';
import { normalizeProvider } from './read-call.ts';

/** Returns the document ID of the price of a model. */
export const toPriceId = (model: string): string =>
  createHash('sha256').update(model.toLowerCase()).digest('hex').slice(0, 32);

const matchNumbers = { equals: 0, startsWith: 1, contains: 2 } as const;

const readMatch = (match: PriceMatch | undefined, model: string): { number: number; text: string } => {
  for (const [name, text] of Object.entries(match ?? { equals: model }) as [keyof typeof matchNumbers, string][])
    return { number: matchNumbers[name], text: text.toLowerCase() };
  return { number: matchNumbers.equals, text: model.toLowerCase() };
};

const toRateList = (rates: PriceRates): RateList =>
  completeRates((kind) => {
    const rate = rates[kind];
    return rate === undefined ? undefined : parseRate(rate);
  });

const toTiers = ({ perMillion, tiers }: LlmPriceFields): RateTier[] => [
  { above: 0, rates: toRateList(perMillion) },
  ...tiers
    .toSorted((left, right) => left.inputTokensAbove - right.inputTokensAbove)
    .map((tier) => ({ above: tier.inputTokensAbove, rates: toRateList(tier.perMillion) })),
];

/**
 * Returns the periods after a price was set: a price applies to all calls from its start on, so it replaces those that
 * begin at the same time or later.
 */
export const addPeriod = (periods: LlmPrice['periods'], added: LlmPriceFields): LlmPriceFields[] => [
  ...periods.filter(({ validFrom }) => Date.parse(validFrom) < Date.parse(added.validFrom)),
  added,
];

/** A price before others with a higher rank: exact names first, then longer texts. */
const computeRank = (number: number, text: string, provider: string): number =>
  number * 10_000 + (provider === '' ? 5_000 : 0) + (300 - Math.min(text.length, 300));

const endOfTime = '9223372036854775807';
const toNanoseconds = (time: string): string => String(BigInt(Date.parse(time)) * 1_000_000n);

/** Returns JSON of the periods and tiers of a price, as `queries/signals/llm-calls-source.ts` reads them. */
export const toPriceRows = (priceId: string, { model, periods }: LlmPrice): string => {
  const rows = periods.flatMap((period, index) => {
    const { number, text } = readMatch(period.match, model);
    const next = periods[index + 1];
    const tiers = toTiers(period);
    const provider = normalizeProvider(period.provider);
    return tiers.map(({ above, rates }, tierIndex) => {
      const list = rates.map((rate) => JSON.stringify(formatDecimal(rate))).join(',');
      const upTo = tiers[tierIndex + 1]?.above ?? Number.MAX_SAFE_INTEGER;
      const validTo = next === undefined ? endOfTime : toNanoseconds(next.validFrom);
      const texts = [provider, period.currency, text, priceId].map((value) => JSON.stringify(value));
      return `[${texts[0]},${number},${texts[2]},${toNanoseconds(period.validFrom)},${validTo},${tierIndex === 0 ? -1 : above},${upTo},${texts[1]},[${list}],${computeRank(number, text, provider)},${texts[3]}]`;
    });
  });
  return `[${rows.join(',')}]`;
};

/** A price with its document. */
export interface StoredPrice extends LlmPrice {
  readonly id: string;
}

export interface OwnPrice {
  readonly stored: StoredPrice;
  readonly period: LlmPriceFields;
  readonly price: Price;
}

/** Returns the price of an organization for calls of a model at a time, in epoch milliseconds. */
export const findOwnPrice = (
  prices: readonly StoredPrice[],
  {
    provider,
    models,
    timeMs,
  }: { readonly provider: string; readonly models: readonly string[]; readonly timeMs: number },
): OwnPrice | undefined => {
  const names = models.map((model) => model.toLowerCase());
  const found = prices.flatMap((stored) => {
    const period = stored.periods.findLast(({ validFrom }) => Date.parse(validFrom) <= timeMs);
    if (period === undefined) return [];
    const { number, text } = readMatch(period.match, stored.model);
    const ofProvider = normalizeProvider(period.provider);
    const isMatch =
      (ofProvider === '' || ofProvider === provider) &&
      names.some((name) => (number === 0 ? name === text : number === 1 ? name.startsWith(text) : name.includes(text)));
    return isMatch ? [{ stored, period, rank: computeRank(number, text, ofProvider) }] : [];
  });
  const [first] = found.toSorted(
    (left, right) => left.rank - right.rank || (left.stored.id < right.stored.id ? -1 : 1),
  );
  if (first === undefined) return undefined;
  const { stored, period } = first;
  return { stored, period, price: { tiers: toTiers(period), perCall: 0n, currency: period.currency } };
};

interface PricedModel {
  readonly provider: string;
  /** Names in order of preference; empty ones are ignored. */
  readonly models: readonly string[];
  readonly timeMs: number;
}

/** Returns the price for calls of a model at a time: that of the organization, or else that of the table. */
export const findPrice = (prices: readonly StoredPrice[], { provider, models, timeMs }: PricedModel): FoundPrice => {
  const names = [...new Set(models)].filter((name) => name !== '');
  const own = findOwnPrice(prices, { provider, models: names, timeMs });
  return own === undefined ? findFirstTablePrice(provider, names, timeMs) : { price: own.price };
};
