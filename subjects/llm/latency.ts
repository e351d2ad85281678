/** Latency of calls: duration, time to the first token, and tokens per second after it. */
import { z } from 'zod';
import { tokensPerSecondSql } from '../../queries/signals/llm-calls-source.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { ValueReader } from '../../queries/values.ts';
import type { LlmScope } from './scope.ts';
import { LatencyQuantiles, toQuantiles } from './totals.ts';

export const LatencyGroup = z.strictObject({
  group: z.record(z.string(), z.string()),
  requests: z.int(),
  streamedRequests: z.int(),
  duration: LatencyQuantiles,
  streamedDuration: LatencyQuantiles.describe('Duration of streamed responses'),
  timeToFirstToken: LatencyQuantiles,
  tokensPerSecond: z
    .strictObject({ p5: z.number(), p50: z.number(), p95: z.number() })
    .nullable()
    .describe('Output tokens per second after the first one; `null` if not measured'),
});
export type LatencyGroup = z.output<typeof LatencyGroup>;

interface Row {
  readonly group_values: readonly string[];
  readonly bucket: string;
  readonly requests: string;
  readonly streamed: string;
  readonly durations: readonly (number | null)[];
  readonly streamed_durations: readonly (number | null)[];
  readonly first_tokens: readonly (number | null)[];
  readonly speeds: readonly (number | null)[];
}

const maxGroups = 1_000;
const levels = '(0.5, 0.95, 0.99)';

const toSpeeds = (values: readonly (number | null)[]): LatencyGroup['tokensPerSecond'] => {
  const [p5, p50, p95] = values.map((value) =>
    value === null || !Number.isFinite(value) ? undefined : Math.round(value * 100) / 100,
  );
  return p5 === undefined || p50 === undefined || p95 === undefined ? null : { p5, p50, p95 };
};

/** Reads the latency of groups, the one with the most requests first; with a step, of each step. */
export const readLlmLatency = async (
  { columns }: TenantReader,
  { condition, parameters }: LlmScope,
  { groupBy, stepMs }: { readonly groupBy: readonly string[]; readonly stepMs?: number | undefined },
): Promise<(LatencyGroup & { readonly timeMs: number })[]> => {
  const values = new ValueReader('llm');
  const groupValues = groupBy.map((name) => values.getEachValue(name).text);
  const stepNs = BigInt(stepMs ?? 0) * 1_000_000n;
  const bucket = values.addColumn(
    stepMs === undefined ? "'0'" : `toString(intDiv(toUnixTimestamp64Nano(timestamp), ${stepNs}) * ${stepNs})`,
  );
  const [duration, firstToken, isStreamed, speed] = [
    'toFloat64(duration_ns)',
    'toFloat64(first_token_ns)',
    'is_streamed',
    tokensPerSecondSql,
  ].map((expression) => values.addColumn(expression));
  const rows = await columns.query<Row>(
    `SELECT [${groupValues.join(', ')}]::Array(String) AS group_values, ${bucket} AS bucket, toString(count()) AS requests,
      toString(countIf(${isStreamed} = 1)) AS streamed, quantilesExactInclusive${levels}(${duration}) AS durations,
      quantilesExactInclusiveIf${levels}(${duration}, ${isStreamed} = 1) AS streamed_durations, quantilesExactInclusiveIf${levels}(${firstToken}, ${firstToken} > 0) AS first_tokens,
      quantilesExactInclusive(0.05, 0.5, 0.95)(${speed}) AS speeds
    FROM ${values.buildSource(condition)}
    GROUP BY ${[...groupValues, bucket].join(', ')} ORDER BY count() DESC, group_values, bucket LIMIT ${stepMs === undefined ? maxGroups : maxGroups * 50}`,
    parameters,
  );
  return rows.map((row) => ({
    group: Object.fromEntries(groupBy.map((name, index) => [name, row.group_values[index] ?? ''])),
    timeMs: Number(BigInt(row.bucket) / 1_000_000n),
    requests: Number(row.requests),
    streamedRequests: Number(row.streamed),
    duration: toQuantiles(row.durations),
    streamedDuration: toQuantiles(row.streamed_durations),
    timeToFirstToken: toQuantiles(row.first_tokens),
    tokensPerSecond: toSpeeds(row.speeds),
  }));
};
