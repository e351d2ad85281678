/** Requests, errors and durations of calls, as SQL over a group of count rows and as response fields */
import { z } from 'zod';
import { buildQuantileSql } from '../../schemas/tables/durations.ts';

const nanoseconds = z.number().describe('Nanoseconds');

export const CallDurations = z.strictObject({
  mean: nanoseconds,
  p50: nanoseconds,
  p95: nanoseconds,
  p99: nanoseconds,
  max: nanoseconds,
});
type CallDurations = z.output<typeof CallDurations>;

/** SQL of the quantiles of `duration_buckets`, and the maximum */
export const quantileColumns = `toString(max(duration_max)) AS longest, ${buildQuantileSql(0.5)} AS p50, ${buildQuantileSql(0.95)} AS p95, ${buildQuantileSql(0.99)} AS p99`;

export interface QuantilesRow {
  readonly longest: string;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Returns durations. Quantiles are those of buckets, limited to the maximum duration. */
export const toDurations = ({ longest, p50, p95, p99 }: QuantilesRow, mean: number): CallDurations => {
  const max = Number(longest);
  const toQuantile = (value: number): number => Math.min(Math.round(value), max);
  return { mean, p50: toQuantile(p50), p95: toQuantile(p95), p99: toQuantile(p99), max };
};

/** SQL of the columns of `service_edges`, summed over a group */
export const callColumns = `toString(sum(requests)) AS all_requests, toString(sum(errors)) AS all_errors, toString(sum(timed)) AS all_timed,
      sum(duration_sum) / greatest(1, sum(timed)) AS mean, ${quantileColumns}`;

export interface CallMetricsRow extends QuantilesRow {
  readonly all_requests: string;
  readonly all_errors: string;
  readonly all_timed: string;
  readonly mean: number;
}

/** Returns the call metrics of a group over a number of seconds; `duration` is `null` if no call has one. */
export const toCallMetrics = (row: CallMetricsRow, seconds: number) => {
  const [requests, errors] = [Number(row.all_requests), Number(row.all_errors)];
  return {
    requests,
    errors,
    ratePerSecond: requests / seconds,
    errorRate: errors / requests,
    duration: row.all_timed === '0' ? null : toDurations(row, row.mean),
  };
};
