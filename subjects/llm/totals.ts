/** Totals of calls: tokens, costs and errors. */
import { z } from 'zod';
import { selectTracesWithCalls } from '../../queries/signals/llm-calls-source.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { computeQuantile } from '../../schemas/tables/durations.ts';
import { Amount, Amounts, TokenSums } from './calls.ts';
import { readCosts } from './costs.ts';
import { type CallSource, findCallSource, readParts } from './hours.ts';
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
/** Maximum number of error types of a statement. */
const maxReadErrorTypes = 1_000;

interface DurationsAndErrors {
  readonly durations: QuantileList;
  /** Types with the number of requests that failed with them, the most frequent first. */
  readonly errors: LlmTotals['errors'];
}

interface DurationRow {
  readonly buckets: readonly number[];
  readonly counts: readonly string[];
  readonly durations: QuantileList;
  readonly errors: readonly (readonly [type: string, requests: string])[];
}

/** Adds up counts by name. */
const sumCounts = <Name>(pairs: Iterable<readonly [name: Name, count: string | undefined]>): Map<Name, number> => {
  const counts = new Map<Name, number>();
  for (const [name, count] of pairs) counts.set(name, (counts.get(name) ?? 0) + Number(count));
  return counts;
};

/**
 * Reads quantiles of durations, exact ones of calls or those of histograms of sums and of many calls, and types of errors.
 * As planning is most of the cost, one statement reads both.
 */
const readDurationsAndErrors = async (
  { columns }: Pick<TenantReader, 'columns'>,
  { condition, parameters }: LlmScope,
  source: CallSource,
): Promise<DurationsAndErrors> => {
  const hasHistogram = source.isSummed || source.parts.length > 1;
  const durationsSql = hasHistogram
    ? 'sumMap(duration_bucket, duration_count) AS histogram, [] AS durations'
    : `([], []) AS histogram, quantilesExactInclusive(${quantiles.join(', ')})(duration_ns) AS durations`;
  const rows = await readParts(source, (buildCalls) =>
    columns.query<DurationRow>(
      `SELECT histogram.1 AS buckets, arrayMap(count -> toString(count), histogram.2) AS counts, durations,
        arrayMap(each -> [each.1, toString(each.2)], arraySlice(arraySort(each -> (-toInt64(each.2), each.1), arrayZip(failed.1, failed.2)), 1, ${maxReadErrorTypes})) AS errors
      FROM (
        SELECT ${durationsSql}, sumMapIf([toString(error_type)], [calls], is_failed = 1) AS failed
        FROM ${buildCalls(hasHistogram ? ['calls', 'duration_bucket', 'duration_count'] : [])} WHERE ${condition})`,
      parameters,
    ),
  );
  const histogram = sumCounts(
    rows.flatMap(({ buckets, counts }) => buckets.map((bucket, index) => [bucket, counts[index]] as const)),
  );
  return {
    durations: hasHistogram
      ? quantiles.map((quantile) => computeQuantile(histogram, quantile) ?? null)
      : (rows[0]?.durations ?? []),
    errors: [...sumCounts(rows.flatMap(({ errors }) => errors))]
      .sort(([left, leftCount], [right, rightCount]) => rightCount - leftCount || (left < right ? -1 : 1))
      .slice(0, maxErrorTypes)
      .map(([type, requests]) => ({ type, requests })),
  };
};

/** Maximum number of traces of a statement that finds their calls. */
const maxTraces = 20_000;

/** Counts the traces of containers that have no calls in any part. */
const countTracesWithoutCalls = async (
  { columns }: Pick<TenantReader, 'columns'>,
  { condition, parameters }: LlmScope,
  { containers, spans }: CallSource,
): Promise<number> => {
  const traces = new Set<string>();
  for (const from of containers) {
    const rows = await columns.query<{ traces: readonly string[] }>(
      `SELECT groupUniqArray(trace_id) AS traces FROM ${from} WHERE ${condition}`,
      parameters,
    );
    for (const trace of rows.flatMap((row) => row.traces)) traces.add(trace);
  }
  for (const part of spans) {
    const candidates = [...traces];
    for (let start = 0; start < candidates.length; start += maxTraces) {
      const rows = await columns.query<{ trace_id: string }>(
        `SELECT DISTINCT trace_id FROM (${selectTracesWithCalls('SELECT arrayJoin({candidates:Array(String)})', part)})`,
        { ...parameters, candidates: candidates.slice(start, start + maxTraces) },
      );
      for (const { trace_id: trace } of rows) traces.delete(trace);
    }
  }
  return traces.size;
};

/** Counts the traces in which only agents, workflows or chains report tokens. */
const countTracesWithUncountedTokens = async (
  { columns }: Pick<TenantReader, 'columns'>,
  scope: LlmScope,
  source: CallSource,
): Promise<number> => {
  const [containers = '', ...otherContainers] = source.containers;
  if (otherContainers.length > 0) return countTracesWithoutCalls({ columns }, scope, source);
  const traces = `SELECT trace_id FROM ${containers} WHERE ${scope.condition}`;
  const count = async (filter: string): Promise<number> => {
    const rows = await columns.query<{ traces: string }>(
      `SELECT toString(uniqExact(trace_id)) AS traces FROM (${traces})${filter}`,
      scope.parameters,
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
    errors,
  };
};
