/** Totals of calls: tokens, costs and errors. */
import { z } from 'zod';
import type { TenantReader } from '../../queries/reading.ts';
import { llmCallsSource, llmContainersSource } from '../../queries/signals/found-llm-calls.ts';
import { inputKinds } from '../../schemas/llm-calls.ts';
import { Amount, Amounts, readTokenList, TokenSums, tokenSumListSql, toTokenSums } from './calls.ts';
import { readCosts } from './costs.ts';
import type { StoredPrice } from './own-prices.ts';
import type { LlmScope } from './scope.ts';

const Quantiles = z.strictObject({ p50: z.number(), p95: z.number(), p99: z.number() });
export const LatencyQuantiles = Quantiles.nullable().describe('Milliseconds; `null` if nothing was measured');
export type LatencyQuantiles = z.output<typeof LatencyQuantiles>;

export const LlmTotals = z.strictObject({
  requests: z.int(),
  failedRequests: z.int(),
  tokens: TokenSums,
  costs: Amounts,
  unpriced: z.strictObject({
    requests: z.int(),
    tokens: z.int().describe('Tokens of unpriced requests'),
    reasons: z.array(z.strictObject({ reason: z.string(), requests: z.int() })),
  }),
  unknownUsage: z.int().describe('Requests with unknown or incomplete tokens'),
  cacheHitRate: z.number().nullable().describe('Share of cached tokens in input, 0 to 1; `null` without input'),
  latency: LatencyQuantiles,
  reportedCost: Amount.nullable().describe('Sum of the costs that senders reported, which no other cost includes'),
  tracesWithUncountedTokens: z
    .int()
    .describe('Traces in which only agents, workflows or chains report tokens, which are not counted'),
  errors: z.array(z.strictObject({ type: z.string(), requests: z.int() })),
});
export type LlmTotals = z.output<typeof LlmTotals>;

interface TotalsRow {
  readonly requests: string;
  readonly failed: string;
  readonly tokens: readonly string[];
  readonly unknown_usage: string;
  readonly durations: readonly (number | null)[];
  readonly reported: string;
  readonly reporting: string;
}

/** Converts quantiles in nanoseconds. */
export const toQuantiles = (values: readonly (number | null)[]): LatencyQuantiles => {
  const [p50, p95, p99] = values.map((value) => (value === null || !Number.isFinite(value) ? undefined : value));
  const toMs = (nanoseconds: number): number => Math.round(nanoseconds / 1e3) / 1e3;
  return p50 === undefined || p95 === undefined || p99 === undefined
    ? null
    : { p50: toMs(p50), p95: toMs(p95), p99: toMs(p99) };
};

/** Reads the totals of a scope. */
export const readLlmTotals = async (
  { columns, nowMs }: TenantReader,
  scope: LlmScope,
  { prices, storedPrices }: { readonly prices: 'call' | 'today'; readonly storedPrices: readonly StoredPrice[] },
): Promise<LlmTotals> => {
  const where = `WHERE ${scope.condition}`;
  const [rows, errors, containers, costs] = await Promise.all([
    columns.query<TotalsRow>(
      `SELECT toString(count()) AS requests, toString(countIf(is_failed = 1)) AS failed, ${tokenSumListSql} AS tokens,
        toString(countIf(usage_problem != '')) AS unknown_usage, quantilesExactInclusive(0.5, 0.95, 0.99)(duration_ns) AS durations,
        toString(sum(toDecimal128OrZero(reported_cost, 18))) AS reported, toString(countIf(reported_cost != '')) AS reporting
      FROM ${llmCallsSource} ${where}`,
      scope.parameters,
    ),
    columns.query<{ type: string; requests: string }>(
      `SELECT error_type AS type, toString(count()) AS requests FROM ${llmCallsSource} ${where} AND is_failed = 1
      GROUP BY type ORDER BY count() DESC, type LIMIT 50`,
      scope.parameters,
    ),
    columns.query<{ traces: string }>(
      `SELECT toString(uniqExact(trace_id)) AS traces FROM ${llmContainersSource} ${where}
        AND trace_id NOT IN (SELECT trace_id FROM ${llmCallsSource})`,
      scope.parameters,
    ),
    readCosts({ columns, nowMs }, scope, { prices, storedPrices }),
  ]);
  const [row] = rows;
  if (row === undefined) throw new Error('the totals of calls have no row');
  const tokens = readTokenList(row.tokens);
  const input = inputKinds.reduce((sum, kind) => sum + tokens[kind], 0n);
  return {
    requests: Number(row.requests),
    failedRequests: Number(row.failed),
    tokens: toTokenSums(tokens),
    costs: costs.total.costs,
    unpriced: costs.unpriced,
    unknownUsage: Number(row.unknown_usage),
    cacheHitRate: input === 0n ? null : Number((tokens.cacheRead * 1_000_000n) / input) / 1e6,
    latency: row.requests === '0' ? null : toQuantiles(row.durations),
    reportedCost: row.reporting === '0' ? null : { currency: 'USD', amount: row.reported },
    tracesWithUncountedTokens: Number(containers[0]?.traces ?? 0),
    errors: errors.map(({ type, requests }) => ({ type, requests: Number(requests) })),
  };
};
