/** Totals of calls: tokens, costs and errors. */
import { z } from 'zod';
import { selectTracesWithCalls } from '../../queries/signals/found-llm-calls.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { computeQuantile } from '../../schemas/tables/durations.ts';
import { Amount, Amounts, TokenSums } from './calls.ts';
import { readCosts } from './costs.ts';
import { type CallSource, findCallSource } from './hours.ts';
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

const quantiles = [0.5, 0.95, 0.99];

/** Converts quantiles in nanoseconds. */
export const toQuantiles = (values: readonly (number | null)[]): LatencyQuantiles => {
  const [p50, p95, p99] = values.map((value) => (value === null || !Number.isFinite(value) ? undefined : value));
  const toMs = (nanoseconds: number): number => Math.round(nanoseconds / 1e3) / 1e3;
  return p50 === undefined || p95 === undefined || p99 === undefined
    ? null
    : { p50: toMs(p50), p95: toMs(p95), p99: toMs(p99) };
};

type QuantileList = readonly (number | null)[];

const maxErrorTypes = 50;

interface DurationsAndErrors {
  readonly durations: QuantileList;
  /** Types with the number of requests that failed with them, the most frequent first. */
  readonly errors: readonly (readonly [type: string, requests: string])[];
}

/**
 * Reads quantiles of durations, exact ones of calls or those of histograms of sums, and types of errors. As planning is
 * most of the cost, one statement reads both.
 */
const readDurationsAndErrors = async (
  { columns }: Pick<TenantReader, 'columns'>,
  { condition, parameters }: LlmScope,
  source: CallSource,
): Promise<DurationsAndErrors> => {
  const { isSummed } = source;
  const durationsSql = isSummed
    ? 'sumMap(duration_bucket, duration_count) AS histogram, [] AS durations'
    : `([], []) AS histogram, quantilesExactInclusive(${quantiles.join(', ')})(duration_ns) AS durations`;
  const calls = source.buildCalls(isSummed ? ['calls', 'duration_bucket', 'duration_count'] : []);
  const [row] = await columns.query<{
    buckets: readonly number[];
    counts: readonly string[];
    durations: QuantileList;
    errors: DurationsAndErrors['errors'];
  }>(
    `SELECT histogram.1 AS buckets, arrayMap(count -> toString(count), histogram.2) AS counts, durations,
      arrayMap(each -> [each.1, toString(each.2)], arraySlice(arraySort(each -> (-toInt64(each.2), each.1), arrayZip(failed.1, failed.2)), 1, ${maxErrorTypes})) AS errors
    FROM (
      SELECT ${durationsSql}, sumMapIf([toString(error_type)], [calls], is_failed = 1) AS failed FROM ${calls} WHERE ${condition})`,
    parameters,
  );
  const histogram = new Map(row?.buckets.map((bucket, index) => [bucket, Number(row.counts[index])]));
  return {
    durations: isSummed
      ? quantiles.map((quantile) => computeQuantile(histogram, quantile) ?? null)
      : (row?.durations ?? []),
    errors: row?.errors ?? [],
  };
};

/** Counts the traces in which only agents, workflows or chains report tokens. */
const countTracesWithUncountedTokens = async (
  { columns }: Pick<TenantReader, 'columns'>,
  { condition, parameters }: LlmScope,
  { containers }: CallSource,
): Promise<number> => {
  const traces = `SELECT trace_id FROM ${containers} WHERE ${condition}`;
  const count = async (filter: string): Promise<number> => {
    const rows = await columns.query<{ traces: string }>(
      `SELECT toString(uniqExact(trace_id)) AS traces FROM (${traces})${filter}`,
      parameters,
    );
    return Number(rows[0]?.traces ?? 0);
  };
  // Finding calls of traces reads all calls of the range, so it is left out if there are no such traces.
  return (await count('')) === 0 ? 0 : count(` WHERE trace_id NOT IN (${selectTracesWithCalls(traces)})`);
};

/** Reads the totals of a scope. */
export const readLlmTotals = async (
  { columns, nowMs }: TenantReader,
  scope: LlmScope,
  { prices, storedPrices }: { readonly prices: 'call' | 'today'; readonly storedPrices: readonly StoredPrice[] },
): Promise<LlmTotals> => {
  const source = await findCallSource({ columns }, scope);
  const [costs, { durations, errors }, tracesWithUncountedTokens] = await Promise.all([
    readCosts({ columns, nowMs }, scope, { prices, storedPrices, source }),
    readDurationsAndErrors({ columns }, scope, source),
    countTracesWithUncountedTokens({ columns }, scope, source),
  ]);
  const { requests, tokens } = costs.total;
  const input = BigInt(tokens.allInput);
  return {
    requests,
    failedRequests: costs.failedRequests,
    tokens,
    costs: costs.total.costs,
    unpriced: costs.unpriced,
    unknownUsage: costs.unknownUsage,
    cacheHitRate: input === 0n ? null : Number((BigInt(tokens.cacheRead) * 1_000_000n) / input) / 1e6,
    latency: requests === 0 ? null : toQuantiles(durations),
    reportedCost: costs.reportedCost,
    tracesWithUncountedTokens,
    errors: errors.map(([type, failed]) => ({ type, requests: Number(failed) })),
  };
};
