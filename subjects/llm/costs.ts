/** Costs of calls by groups and steps, in exact decimals. */
import { createValidationError } from '../../queries/errors.ts';
import { inputTokensSql, tokenColumns } from '../../queries/signals/llm-calls-source.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { ValueReader } from '../../queries/values.ts';
import { type TokenKind, tokenKinds } from '../../schemas/llm-calls.ts';
import { type Amount, readTokenList, type TokenSums, toTokenSums } from './calls.ts';
import { formatDecimal, parseDecimal } from './decimals.ts';
import { type CallSource, findCallSource, hourMs, readParts, type SummedColumn } from './hours.ts';
import { findPrice, type StoredPrice } from './own-prices.ts';
import { computeCostOfCalls } from './prices.ts';
import type { LlmScope } from './scope.ts';
import { isSummedField } from './summed-fields.ts';

/** Maximum number of groups and steps of a read. */
const maxRows = 50_000;
/** Maximum number of reasons why calls are unpriced */
const maxReasons = 20;

/** Sums of a group, of a step or of everything. */
export interface CostSums {
  readonly requests: number;
  readonly unpricedRequests: number;
  readonly tokens: TokenSums;
  readonly costs: Amount[];
}

export interface CostGroup extends CostSums {
  readonly group: Readonly<Record<string, string>>;
  readonly points: readonly (CostSums & { readonly timeMs: number })[];
}

export interface Costs {
  readonly groups: readonly CostGroup[];
  readonly total: CostSums;
  readonly unpriced: {
    readonly requests: number;
    readonly tokens: number;
    readonly reasons: { reason: string; requests: number }[];
  };
  readonly failedRequests: number;
  /** Requests with unknown or incomplete tokens. */
  readonly unknownUsage: number;
  /** Sum of the costs that senders reported; `null` if none did. */
  readonly reportedCost: Amount | null;
}

export interface CostOptions {
  readonly prices: 'call' | 'today';
  readonly storedPrices: readonly StoredPrice[];
  readonly groupBy?: readonly string[];
  readonly stepMs?: number | undefined;
  /** What to read, if it is known already. */
  readonly source?: CallSource;
}

interface Row {
  readonly group_values: readonly string[];
  readonly bucket: string;
  readonly requests: string;
  readonly tokens: readonly string[];
  readonly amount: string;
  /** Currency and price problem, or names of the model and usage problem. */
  readonly keys: readonly string[];
  readonly least_input: string;
  readonly failed: string;
  readonly unknown_usage: string;
  readonly reported: string;
  readonly reporting: string;
}

interface ModelNames {
  readonly provider: string;
  readonly model: string;
  readonly request_model: string;
}

/** Sum of rows that are added one by one. */
class Accumulator {
  requests = 0;
  unpricedRequests = 0;
  unpricedTokens = 0n;
  readonly #tokens: Record<TokenKind, bigint> = readTokenList([]);
  readonly #amounts = new Map<string, bigint>();

  add(row: PricedRow): void {
    this.requests += row.requests;
    for (const kind of tokenKinds) this.#tokens[kind] += row.tokens[kind];
    if (row.currency === '') {
      this.unpricedRequests += row.requests;
      for (const kind of tokenKinds) this.unpricedTokens += row.tokens[kind];
    } else this.#amounts.set(row.currency, (this.#amounts.get(row.currency) ?? 0n) + row.units);
  }

  /** Amount in the currency by which groups are sorted. */
  getUnits(currency: string): bigint {
    return this.#amounts.get(currency) ?? 0n;
  }

  toSums(): CostSums {
    return {
      requests: this.requests,
      unpricedRequests: this.unpricedRequests,
      tokens: toTokenSums(this.#tokens),
      costs: [...this.#amounts]
        .sort(([left], [right]) => (left < right ? -1 : 1))
        .map(([currency, units]) => ({ currency, amount: formatDecimal(units) })),
    };
  }

  /** Returns the currencies, the one with the highest amount first. */
  listCurrencies(): string[] {
    return [...this.#amounts]
      .sort(([left, leftUnits], [right, rightUnits]) =>
        leftUnits === rightUnits ? (left < right ? -1 : 1) : leftUnits < rightUnits ? 1 : -1,
      )
      .map(([currency]) => currency);
  }
}

interface PricedRow {
  readonly groupValues: readonly string[];
  readonly timeMs: number;
  readonly requests: number;
  readonly tokens: Record<TokenKind, bigint>;
  readonly currency: string;
  readonly units: bigint;
  readonly problem: string;
}

const toPricedRow = (row: Row): PricedRow => ({
  groupValues: row.group_values,
  timeMs: Number(BigInt(row.bucket) / 1_000_000n),
  requests: Number(row.requests),
  tokens: readTokenList(row.tokens),
  currency: row.keys[0] ?? '',
  units: parseDecimal(row.amount),
  problem: row.keys[1] ?? '',
});

/** Returns a row at the prices of a time. */
const repriceRow = (row: Row, timeMs: number, storedPrices: readonly StoredPrice[]): PricedRow => {
  const pricedRow = toPricedRow(row);
  const [provider = '', model = '', requestModel = '', usageProblem = ''] = row.keys;
  if (usageProblem !== '') return { ...pricedRow, currency: '', units: 0n, problem: usageProblem };
  const found = findPrice(storedPrices, { provider, models: [model, requestModel], timeMs });
  if ('problem' in found) return { ...pricedRow, currency: '', units: 0n, problem: found.problem };
  const { price } = found;
  return {
    ...pricedRow,
    currency: price.currency,
    problem: '',
    units: computeCostOfCalls(pricedRow.tokens, {
      price,
      calls: BigInt(row.requests),
      input: Number(row.least_input),
    }),
  };
};

/** Returns the numbers of input tokens at which the prices of models change. */
const listTierBounds = (
  models: readonly ModelNames[],
  timeMs: number,
  storedPrices: readonly StoredPrice[],
): number[] => {
  const bounds = new Set<number>();
  for (const { provider, model, request_model: requestModel } of models) {
    const found = findPrice(storedPrices, { provider, models: [model, requestModel], timeMs });
    if ('price' in found) for (const { above } of found.price.tiers) if (above > 0) bounds.add(above);
  }
  return [...bounds].sort((left, right) => left - right);
};

/** Merges priced rows into groups, the highest cost first. */
const sumRows = (
  rows: readonly PricedRow[],
  groupBy: readonly string[],
): Pick<Costs, 'groups' | 'total' | 'unpriced'> => {
  const total = new Accumulator();
  const reasons = new Map<string, number>();
  const groups = new Map<string, { values: readonly string[]; sum: Accumulator; steps: Map<number, Accumulator> }>();
  for (const row of rows) {
    const key = JSON.stringify(row.groupValues);
    const group = groups.get(key) ?? { values: row.groupValues, sum: new Accumulator(), steps: new Map() };
    const step = group.steps.get(row.timeMs) ?? new Accumulator();
    for (const accumulator of [total, group.sum, step]) accumulator.add(row);
    group.steps.set(row.timeMs, step);
    groups.set(key, group);
    if (row.problem !== '') reasons.set(row.problem, (reasons.get(row.problem) ?? 0) + row.requests);
  }
  const [mainCurrency = 'USD'] = total.listCurrencies();
  const sorted = [...groups].sort(([leftKey, left], [rightKey, right]) => {
    const difference = right.sum.getUnits(mainCurrency) - left.sum.getUnits(mainCurrency);
    return difference === 0n
      ? right.sum.requests - left.sum.requests || (leftKey < rightKey ? -1 : 1)
      : difference < 0n
        ? -1
        : 1;
  });
  return {
    groups: sorted.map(([, { values, sum, steps }]) => ({
      ...sum.toSums(),
      group: Object.fromEntries(groupBy.map((name, index) => [name, values[index] ?? ''])),
      points: [...steps]
        .sort(([left], [right]) => left - right)
        .map(([timeMs, step]) => ({ ...step.toSums(), timeMs })),
    })),
    total: total.toSums(),
    unpriced: {
      requests: total.unpricedRequests,
      tokens: Number(total.unpricedTokens),
      reasons: [...reasons]
        .sort(([left, leftCount], [right, rightCount]) => rightCount - leftCount || (left < right ? -1 : 1))
        .slice(0, maxReasons)
        .map(([reason, requests]) => ({ reason, requests })),
    },
  };
};

const costColumns: readonly SummedColumn[] = [
  ...(['calls', 'cost', 'reported_amount', 'reporting'] as const),
  ...Object.values(tokenColumns),
];

/** Returns whether sums by hour have the groups and steps. Prices of today may depend on the tokens of each call. */
const isSummed = ({ prices, groupBy = [], stepMs = hourMs }: CostOptions): boolean =>
  prices === 'call' && groupBy.every(isSummedField) && stepMs % hourMs === 0;

interface CostStatement {
  readonly groupBy: readonly string[];
  readonly stepMs: number | undefined;
  /** Numbers of input tokens at which prices of today change; undefined at the prices of the calls. */
  readonly bounds: readonly number[] | undefined;
}

/** Returns the SELECT of the costs of calls. */
const selectCosts = (calls: string, condition: string, { groupBy, stepMs, bounds }: CostStatement): string => {
  const values = new ValueReader('llm', calls);
  const getColumn = (expression: string): string => values.addColumn(expression);
  const groupValues = groupBy.map((name) => values.getEachValue(name).text);
  const stepNs = BigInt(stepMs ?? 0) * 1_000_000n;
  const bucket = getColumn(
    stepMs === undefined ? '0' : `intDiv(toUnixTimestamp64Nano(timestamp), ${stepNs}) * ${stepNs}`,
  );
  // At the prices of the calls, SQL adds their costs; at those of today, tokens of a model and tier are priced here.
  const keyColumns =
    bounds === undefined
      ? ['currency', 'price_problem']
      : [
          ...['provider', 'model', 'request_model', 'usage_problem'],
          `arrayCount(bound -> ${inputTokensSql} > bound, [${bounds.join(', ')}]::Array(UInt64))`,
        ];
  const keys = keyColumns.map(getColumn);
  return `SELECT [${groupValues.join(', ')}]::Array(String) AS group_values, toString(${bucket}) AS bucket, toString(sum(${getColumn('calls')})) AS requests,
      [${tokenKinds.map((kind) => `toString(sum(${getColumn(tokenColumns[kind])}))`).join(', ')}] AS tokens,
      toString(sum(${getColumn('cost')})) AS amount, [${keys.map((key) => `toString(${key})`).join(', ')}] AS keys,
      toString(sumIf(${getColumn('calls')}, ${getColumn('is_failed')} = 1)) AS failed, toString(sumIf(${getColumn('calls')}, ${getColumn('usage_problem')} != '')) AS unknown_usage,
      toString(sum(${getColumn('reported_amount')})) AS reported, toString(sum(${getColumn('reporting')})) AS reporting,
      ${bounds === undefined ? "'0'" : `toString(min(${getColumn(inputTokensSql)}))`} AS least_input
    FROM ${values.buildSource(condition)}
    GROUP BY ${[...groupValues, bucket, ...keys].join(', ')} LIMIT ${maxRows + 1}`;
};

/** Reads costs by groups, names of the search language, and by steps. Groups are sorted by cost, the highest first. */
export const readCosts = async (
  { columns, nowMs }: Pick<TenantReader, 'columns' | 'nowMs'>,
  scope: LlmScope,
  options: CostOptions,
): Promise<Costs> => {
  const { condition, parameters } = scope;
  const { prices, storedPrices, groupBy = [], stepMs } = options;
  const isToday = prices === 'today';
  const isFromSums = scope.isSummable && isSummed(options);
  const source =
    (isFromSums ? options.source : undefined) ??
    (await findCallSource({ columns }, { ...scope, isSummable: isFromSums }));
  const models = isToday
    ? await readParts(source, (buildCalls) =>
        columns.query<ModelNames>(
          `SELECT DISTINCT provider, model, request_model FROM ${buildCalls(costColumns)} LIMIT ${maxRows}`,
          parameters,
        ),
      )
    : [];
  const statement = {
    groupBy,
    stepMs,
    bounds: isToday ? listTierBounds(models, nowMs, storedPrices) : undefined,
  };
  const rows = await readParts(source, (buildCalls) =>
    columns.query<Row>(selectCosts(buildCalls(costColumns), condition, statement), parameters),
  );
  const groups = new Set(rows.map((row) => JSON.stringify([row.group_values, row.bucket, row.keys])));
  if (groups.size > maxRows)
    throw createValidationError(
      'groupBy',
      `gives more than ${maxRows} groups: use a larger step, a shorter range or a search`,
    );
  const count = (name: 'failed' | 'unknown_usage' | 'reporting'): number =>
    rows.reduce((sum, row) => sum + Number(row[name]), 0);
  const reported = rows.reduce((sum, row) => sum + parseDecimal(row.reported), 0n);
  return {
    ...sumRows(
      rows.map((row) => (isToday ? repriceRow(row, nowMs, storedPrices) : toPricedRow(row))),
      groupBy,
    ),
    failedRequests: count('failed'),
    unknownUsage: count('unknown_usage'),
    reportedCost: count('reporting') === 0 ? null : { currency: 'USD', amount: formatDecimal(reported) },
  };
};
