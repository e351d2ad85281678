/** The built-in price table: `@pydantic/genai-prices`, with the prices of its release. Nothing is loaded from the network. */
import {
  type ConditionalPrice,
  findProvider,
  type MatchLogic,
  type ModelInfo,
  type ModelPrice,
  type Provider,
  waitForUpdate,
} from '@pydantic/genai-prices';
import type { TokenKind } from '../../schemas/llm-calls.ts';
import { parseRate } from './decimals.ts';
import { completeRates, type Price, type RateTier } from './prices.ts';

/** Release of the price table. A test compares it with the installed package. */
export const priceTableVersion = '0.1.8';
export const priceTableName = `genai-prices ${priceTableVersion}`;

/** Names of prices per million tokens in the table. */
const priceKeys: Readonly<Record<TokenKind, string>> = {
  input: 'input_mtok',
  cacheRead: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
  cacheWrite1h: 'cache_write_1h_mtok',
  inputAudio: 'input_audio_mtok',
  inputImage: 'input_image_mtok',
  output: 'output_mtok',
  reasoning: 'output_reasoning_mtok',
  outputAudio: 'output_audio_mtok',
  outputImage: 'output_image_mtok',
};
const tokenPriceKeys = new Set(Object.values(priceKeys));
const callPriceKey = 'requests_kcount';

/** Providers of the conventions whose name the table does not know. */
const tableProviders: Readonly<Record<string, string>> = {
  'aws.bedrock': 'aws',
  'azure.ai.openai': 'azure',
  'azure.ai.inference': 'azure',
  'gcp.gemini': 'google',
  'gcp.vertex_ai': 'google',
  'gcp.gen_ai': 'google',
  mistral_ai: 'mistral',
  x_ai: 'x-ai',
  moonshot_ai: 'moonshotai',
};

/** All providers, for tests and suggestions. */
export const tableOfProviders: readonly Provider[] = (await waitForUpdate()) ?? [];

const matches = (logic: MatchLogic, name: string): boolean => {
  if ('or' in logic) return logic.or.some((part) => matches(part, name));
  if ('and' in logic) return logic.and.every((part) => matches(part, name));
  if ('equals' in logic) return name === logic.equals.toLowerCase();
  if ('starts_with' in logic) return name.startsWith(logic.starts_with.toLowerCase());
  if ('ends_with' in logic) return name.endsWith(logic.ends_with.toLowerCase());
  if ('contains' in logic) return name.includes(logic.contains.toLowerCase());
  return new RegExp(logic.regex).test(name);
};

const findModelOf = (provider: Provider, name: string, followsFallbacks: boolean): ModelInfo | undefined => {
  const model = provider.models.find(({ match }) => matches(match, name));
  if (model !== undefined || !followsFallbacks) return model;
  for (const fallbackId of provider.fallback_model_providers ?? []) {
    const fallback = tableOfProviders.find(({ id }) => id === fallbackId);
    const fallbackModel = fallback === undefined ? undefined : findModelOf(fallback, name, false);
    if (fallbackModel !== undefined) return fallbackModel;
  }
  return undefined;
};

/** Writes dates as the table does: `-20250101` becomes `-2025-01-01`. */
const separateDates = (name: string): string =>
  name.replace(/-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g, '-$1-$2-$3');

export interface TableModel {
  readonly provider: Provider;
  readonly model: ModelInfo;
}

const maxCachedModels = 5_000;
const cachedModels = new Map<string, TableModel | undefined>();

const lookUpModel = (providerName: string, modelName: string): TableModel | undefined => {
  const name = modelName.toLowerCase().trim();
  const provider =
    findProvider(
      providerName === ''
        ? { modelId: name }
        : { providerId: tableProviders[providerName] ?? providerName, modelId: name },
    ) ?? findProvider({ modelId: name });
  if (provider === undefined) return undefined;
  const model = findModelOf(provider, name, true) ?? findModelOf(provider, separateDates(name), true);
  return model === undefined ? undefined : { provider, model };
};

/** Returns the model of the table with that name of a provider. */
export const findTableModel = (providerName: string, modelName: string): TableModel | undefined => {
  const key = `${providerName}\n${modelName}`;
  if (cachedModels.has(key)) return cachedModels.get(key);
  if (cachedModels.size >= maxCachedModels) cachedModels.clear();
  const model = modelName.length > 256 ? undefined : lookUpModel(providerName, modelName);
  cachedModels.set(key, model);
  return model;
};

const parseSeconds = (time: string): number => {
  const [, hours = '0', minutes = '0', seconds = '0', zone = 'Z', sign, zoneHours = '0', zoneMinutes = '0'] =
    /^(\d\d):(\d\d):(\d\d(?:\.\d+)?)(Z|([+-])(\d\d):(\d\d))$/.exec(time) ?? [];
  const offset = zone === 'Z' ? 0 : (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -60 : 60);
  return (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds) - offset + 86_400) % 86_400;
};

const dayMs = 86_400_000;

const isEffective = ({ constraint }: ConditionalPrice, timeMs: number): boolean => {
  if (constraint === undefined) return true;
  if (constraint.type === 'start_date') return timeMs >= Date.parse(constraint.start_date);
  const seconds = (((timeMs % dayMs) + dayMs) % dayMs) / 1_000;
  const start = parseSeconds(constraint.start_time);
  const end = parseSeconds(constraint.end_time);
  return end < start ? seconds >= start || seconds < end : seconds >= start && seconds < end;
};

/** Returns the prices of a model that are effective at a time, in epoch milliseconds. */
const selectPrices = ({ prices }: ModelInfo, timeMs: number): ModelPrice => {
  if (!Array.isArray(prices)) return prices;
  return (prices.findLast((price) => isEffective(price, timeMs)) ?? prices[0])?.prices ?? {};
};

const convertedPrices = new WeakMap<ModelPrice, Price | undefined>();

const convertPrice = (prices: ModelPrice): Price | undefined => {
  const names = Object.keys(prices);
  if (names.length > 0 && !names.some((name) => tokenPriceKeys.has(name) || name === callPriceKey)) return undefined;
  const starts = new Set([0]);
  for (const price of Object.values(prices))
    if (typeof price === 'object') for (const { start } of price.tiers) starts.add(start);
  const tiers = [...starts]
    .sort((left, right) => left - right)
    .map((above): RateTier => {
      const rates = completeRates((kind) => {
        const price = prices[priceKeys[kind]];
        if (price === undefined) return undefined;
        if (typeof price === 'number') return parseRate(price);
        const sortedTiers = price.tiers.toSorted((left, right) => left.start - right.start);
        return parseRate(
          above === 0 ? price.base : (sortedTiers.findLast(({ start }) => start <= above)?.price ?? price.base),
        );
      });
      return { above, rates };
    });
  const perThousandCalls = prices[callPriceKey];
  return {
    tiers,
    perCall: typeof perThousandCalls === 'number' ? parseRate(perThousandCalls) * 1_000n : 0n,
    currency: 'USD',
  };
};

/** A price, or why there is none. */
export type FoundPrice = { readonly price: Price } | { readonly problem: string };

/** Returns the price of a model at a time, in epoch milliseconds. */
export const findTablePrice = (providerName: string, modelName: string, timeMs: number): FoundPrice => {
  if (modelName === '') return { problem: 'the sender reported no model' };
  const found = findTableModel(providerName, modelName);
  if (found === undefined) return { problem: 'the model is not in the price table' };
  const prices = selectPrices(found.model, timeMs);
  if (!convertedPrices.has(prices)) convertedPrices.set(prices, convertPrice(prices));
  const price = convertedPrices.get(prices);
  return price === undefined ? { problem: 'the model is not priced by tokens' } : { price };
};

/** Returns the price of the first of these names that the table has, or why the first name has none. Empty names are ignored. */
export const findFirstTablePrice = (
  providerName: string,
  modelNames: readonly string[],
  timeMs: number,
): FoundPrice => {
  const [first = '', ...others] = new Set(modelNames.filter((name) => name !== ''));
  const found = findTablePrice(providerName, first, timeMs);
  if ('price' in found) return found;
  for (const name of others) {
    const other = findTablePrice(providerName, name, timeMs);
    if ('price' in other) return other;
  }
  return found;
};
