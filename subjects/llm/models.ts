/** Models that an organization calls, with their prices. */
import { z } from 'zod';
import { tokenColumns } from '../../queries/signals/llm-calls-source.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { computeEditDistance } from '../../schemas/edit-distance.ts';
import { type TokenKind, tokenKinds } from '../../schemas/llm-calls.ts';
import { findTableModel, findTablePrice, priceTableName, tableOfProviders } from './built-in-prices.ts';
import { Amounts, readTokenList, TokenSums, tokenSumListSql, toTokenSums } from './calls.ts';
import { formatDecimal, formatRate, parseDecimal } from './decimals.ts';
import { findCallSource, readParts } from './hours.ts';
import { findOwnPrice, type StoredPrice } from './own-prices.ts';
import type { Price } from './prices.ts';
import type { LlmScope } from './scope.ts';

const Rate = z.string().describe('Price of a million tokens, exact decimal');
const RatesView = z.strictObject(
  Object.fromEntries(tokenKinds.map((kind) => [kind, Rate])) as Record<TokenKind, typeof Rate>,
);

export const ModelPriceView = z.strictObject({
  source: z.string().describe('`organization`, or the name of the price table with its release'),
  priceModel: z
    .string()
    .describe('Name of the price: that of `PUT /api/llm/prices/{model}`, or the model of the table'),
  currency: z.string(),
  validFrom: z.string().nullable().describe('`null` if the price has no start'),
  perMillion: RatesView,
  tiers: z.array(z.strictObject({ inputTokensAbove: z.int(), perMillion: RatesView })),
});

export const LlmModelView = z.strictObject({
  provider: z.string(),
  model: z.string(),
  requests: z.int(),
  tokens: TokenSums,
  costs: Amounts,
  lastSeen: z.string(),
  price: ModelPriceView.nullable().describe('Current price; `null` if the model is unpriced'),
  priceProblem: z.string().nullable(),
  similarModels: z.array(z.string()).describe('Models of the price table with similar names, for an unpriced model'),
});
export type LlmModelView = z.output<typeof LlmModelView>;

const toRatesView = (rates: readonly bigint[]): z.output<typeof RatesView> =>
  Object.fromEntries(tokenKinds.map((kind, index) => [kind, formatRate(rates[index] ?? 0n)])) as z.output<
    typeof RatesView
  >;

const toPriceView = (
  { tiers, currency }: Price,
  names: Pick<z.output<typeof ModelPriceView>, 'source' | 'priceModel' | 'validFrom'>,
): z.output<typeof ModelPriceView> => ({
  ...names,
  currency,
  perMillion: toRatesView(tiers[0]?.rates ?? []),
  tiers: tiers.slice(1).map(({ above, rates }) => ({ inputTokensAbove: above, perMillion: toRatesView(rates) })),
});

const maxSuggestions = 5;

/** Returns models of the price table with similar names. */
export const suggestModels = (model: string): string[] => {
  const name = model.toLowerCase().replace(/^.*\//, '').slice(0, 128);
  if (name === '') return [];
  const distances = new Map<string, number>();
  for (const { models } of tableOfProviders)
    for (const { id } of models) {
      const candidate = id.toLowerCase();
      const distance =
        candidate.startsWith(name) || name.startsWith(candidate) ? 1 : computeEditDistance(name, candidate);
      if (distance <= Math.max(2, name.length / 4))
        distances.set(id, Math.min(distance, distances.get(id) ?? distance));
    }
  return [...distances]
    .sort(([left, leftDistance], [right, rightDistance]) => leftDistance - rightDistance || (left < right ? -1 : 1))
    .slice(0, maxSuggestions)
    .map(([id]) => id);
};

/** Returns the current price of a model as it is shown, or why there is none. */
const describePrice = (
  { provider, model }: { readonly provider: string; readonly model: string },
  storedPrices: readonly StoredPrice[],
  timeMs: number,
): Pick<LlmModelView, 'price' | 'priceProblem' | 'similarModels'> => {
  const own = findOwnPrice(storedPrices, { provider, models: [model], timeMs });
  if (own !== undefined) {
    const { stored, period, price } = own;
    const names = { source: 'organization', priceModel: stored.model, validFrom: period.validFrom };
    return { price: toPriceView(price, names), priceProblem: null, similarModels: [] };
  }
  const found = findTablePrice(provider, model, timeMs);
  if ('problem' in found) return { price: null, priceProblem: found.problem, similarModels: suggestModels(model) };
  const priceModel = findTableModel(provider, model)?.model.id ?? model;
  return {
    price: toPriceView(found.price, { source: priceTableName, priceModel, validFrom: null }),
    priceProblem: null,
    similarModels: [],
  };
};

interface Row {
  readonly provider_name: string;
  readonly model_name: string;
  readonly currency_name: string;
  readonly requests: string;
  readonly tokens: readonly string[];
  readonly amount: string;
  readonly seen: string;
}

const maxModels = 1_000;
/** Maximum number of models and currencies of a statement. */
const maxRows = 20_000;

interface ModelSums {
  readonly provider: string;
  readonly model: string;
  requests: number;
  lastSeen: bigint;
  readonly tokens: Record<TokenKind, bigint>;
  readonly amounts: Map<string, bigint>;
}

/** Returns the sums of each model, the one with the most requests first. */
const sumModels = (rows: readonly Row[]): ModelSums[] => {
  const models = new Map<string, ModelSums>();
  for (const { provider_name: provider, model_name: model, currency_name: currency, ...row } of rows) {
    const key = JSON.stringify([provider, model]);
    const sums = models.get(key) ?? {
      provider,
      model,
      requests: 0,
      lastSeen: 0n,
      tokens: readTokenList([]),
      amounts: new Map<string, bigint>(),
    };
    models.set(key, sums);
    sums.requests += Number(row.requests);
    const seen = BigInt(row.seen);
    if (seen > sums.lastSeen) sums.lastSeen = seen;
    const tokens = readTokenList(row.tokens);
    for (const kind of tokenKinds) sums.tokens[kind] += tokens[kind];
    if (currency !== '') sums.amounts.set(currency, (sums.amounts.get(currency) ?? 0n) + parseDecimal(row.amount));
  }
  return [...models]
    .sort(([leftKey, left], [rightKey, right]) => right.requests - left.requests || (leftKey < rightKey ? -1 : 1))
    .map(([, sums]) => sums);
};

/** Reads the models of a scope, the one with the most requests first. */
export const readLlmModels = async (
  { columns, nowMs }: TenantReader,
  scope: LlmScope,
  storedPrices: readonly StoredPrice[],
): Promise<LlmModelView[]> => {
  const rows = await readParts(await findCallSource({ columns }, scope), (buildCalls) =>
    columns.query<Row>(
      `SELECT provider AS provider_name, model AS model_name, currency AS currency_name, toString(sum(calls)) AS requests,
        ${tokenSumListSql} AS tokens, toString(sum(cost)) AS amount, toString(max(last_seen)) AS seen
      FROM ${buildCalls(['calls', 'cost', 'last_seen', ...Object.values(tokenColumns)])} WHERE ${scope.condition}
      GROUP BY provider, model, currency ORDER BY sum(calls) DESC LIMIT ${maxRows}`,
      scope.parameters,
    ),
  );
  return sumModels(rows)
    .slice(0, maxModels)
    .map(({ provider, model, requests, tokens, amounts, lastSeen }) => ({
      provider,
      model,
      requests,
      tokens: toTokenSums(tokens),
      costs: [...amounts].map(([currency, units]) => ({ currency, amount: formatDecimal(units) })),
      lastSeen: formatTime(lastSeen),
      ...describePrice({ provider, model }, storedPrices, nowMs),
    }));
};
