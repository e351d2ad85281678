/** Prices of models that an organization sets. */
import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';

/** Currencies of prices. Costs in different currencies are never added. */
export const priceCurrencies = ['USD', 'EUR', 'GBP', 'CHF', 'JPY', 'CNY', 'INR', 'CAD'] as const;

const Rate = z
  .union([
    z.number().min(0).max(1_000_000),
    z.string().regex(/^\d{1,7}(\.\d{1,12})?$/, 'must be a decimal number with at most 12 decimals'),
  ])
  .describe('Price of a million tokens: a number, or decimal text for all its digits');

const Rates = z.strictObject({
  input: Rate,
  cacheRead: Rate.optional().describe('Default: the price of input'),
  cacheWrite: Rate.optional().describe('Default: the price of input'),
  cacheWrite1h: Rate.optional().describe('Default: the price of `cacheWrite`'),
  inputAudio: Rate.optional().describe('Default: the price of input'),
  inputImage: Rate.optional().describe('Default: the price of input'),
  output: Rate,
  reasoning: Rate.optional().describe('Default: the price of output'),
  outputAudio: Rate.optional().describe('Default: the price of output'),
  outputImage: Rate.optional().describe('Default: the price of output'),
});
export type PriceRates = z.output<typeof Rates>;

/** How the name of a model is compared, without case. */
const Match = z
  .union([
    z.strictObject({ equals: z.string().min(1).max(256) }),
    z.strictObject({ startsWith: z.string().min(1).max(256) }),
    z.strictObject({ contains: z.string().min(1).max(256) }),
  ])
  .describe('Models with this price; default: the model with exactly this name');

/** A price as an organization writes it. */
export const LlmPriceFields = z.strictObject({
  provider: z.string().max(128).default('').describe('Provider, such as `openai`; empty for any'),
  match: Match.optional(),
  validFrom: z.iso.datetime().describe('Calls from this time on have this price, until a later price begins'),
  currency: z.enum(priceCurrencies).default('USD'),
  perMillion: Rates,
  tiers: z
    .array(
      z.strictObject({
        inputTokensAbove: z.int().min(1).max(1_000_000_000),
        perMillion: Rates,
      }),
    )
    .max(10)
    .default([])
    .describe('Prices of calls with more input tokens, cached ones included; of all tokens of such a call'),
});
export type LlmPriceFields = z.output<typeof LlmPriceFields>;
export type PriceMatch = z.output<typeof Match>;

/** Prices of one model over time, earliest first. The ID is a hash of the name. */
export interface LlmPrice {
  readonly model: string;
  readonly periods: readonly LlmPriceFields[];
}

export const llmPrices = defineCollection<LlmPrice>({ name: 'llm-prices' });
