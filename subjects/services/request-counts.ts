/** Requests, errors, durations and Apdex of services, from counts per minute */
import { z } from 'zod';
import { Unknown } from '../../queries/result.ts';
import type { ServiceSettings } from '../../schemas/resources/apdex-settings.ts';
import {
  bucketsPerFourfold,
  computeQuantile,
  type DurationBuckets,
  getBucketStart,
  getNearestBucket,
} from '../../schemas/tables/durations.ts';

const nanoseconds = z.number().describe('Nanoseconds');

const Durations = z
  .strictObject({ mean: nanoseconds, p50: nanoseconds, p95: nanoseconds, p99: nanoseconds, max: nanoseconds })
  .describe(
    'Duration of all requests, including failed ones. Mean and maximum are exact; quantiles have an error of at most 4.4%',
  );

const Apdex = z
  .strictObject({
    value: z.number().describe('(satisfied + tolerated / 2) / requests, between 0 and 1'),
    thresholdMs: z.number().describe('Configured threshold in milliseconds'),
    effectiveThresholdMs: z
      .number()
      .describe(
        'Exact threshold of the counts. Durations are stored in buckets, and this is the bucket bound closest to the configured threshold, within 4.4%',
      ),
    satisfied: z.int().describe('Requests without an error and shorter than the threshold'),
    tolerated: z.int().describe('Requests without an error and shorter than four times the threshold'),
    frustrated: z.int().describe('All other requests'),
  })
  .describe('Apdex: satisfaction of clients, from the duration of each request');

/** Metrics of requests */
export const RequestMetrics = z.strictObject({
  requests: z
    .int()
    .describe('Number of requests: spans of kind server and consumer, and root spans of kind internal and unspecified'),
  errors: z.int().describe('Requests with status error'),
  ratePerSecond: z.number(),
  errorRate: z.union([z.number(), Unknown]).describe('Share of failed requests, between 0 and 1'),
  duration: z.union([Durations, Unknown]),
  apdex: z.union([Apdex, Unknown]),
});
export type RequestMetrics = z.output<typeof RequestMetrics>;

/** Counts of requests */
export interface RequestCounts {
  readonly requests: number;
  readonly errors: number;
  readonly durationSum: number;
  readonly durationMax: number;
  readonly buckets: DurationBuckets;
  /** Buckets of failed requests */
  readonly errorBuckets: DurationBuckets;
}

/** SQL of the columns of `span_metrics` and `resource_activity`, summed over a group */
export const requestCountColumns = `toString(sum(requests)) AS all_requests, toString(sum(errors)) AS all_errors, toFloat64(sum(duration_sum)) AS all_duration,
  toFloat64(max(duration_max)) AS longest, sumMap(duration_buckets) AS buckets, sumMap(error_buckets) AS failed_buckets`;

export interface RequestCountRow {
  readonly all_requests: string;
  readonly all_errors: string;
  readonly all_duration: number;
  readonly longest: number;
  readonly buckets: Readonly<Record<string, string>>;
  readonly failed_buckets: Readonly<Record<string, string>>;
}

const toBuckets = (counts: Readonly<Record<string, string>>): DurationBuckets =>
  new Map(Object.entries(counts).map(([bucket, spans]) => [Number(bucket), Number(spans)]));

export const toRequestCounts = (row: RequestCountRow): RequestCounts => ({
  requests: Number(row.all_requests),
  errors: Number(row.all_errors),
  durationSum: row.all_duration,
  durationMax: row.longest,
  buckets: toBuckets(row.buckets),
  errorBuckets: toBuckets(row.failed_buckets),
});

export const noRequestCounts: RequestCounts = {
  requests: 0,
  errors: 0,
  durationSum: 0,
  durationMax: 0,
  buckets: new Map(),
  errorBuckets: new Map(),
};

const mergeBuckets = (left: DurationBuckets, right: DurationBuckets): DurationBuckets => {
  const sum = new Map(left);
  for (const [bucket, spans] of right) sum.set(bucket, (sum.get(bucket) ?? 0) + spans);
  return sum;
};

/** Returns the sum of counts. */
export const sumRequestCounts = (items: readonly RequestCounts[]): RequestCounts =>
  items.reduce(
    (sum, counts): RequestCounts => ({
      requests: sum.requests + counts.requests,
      errors: sum.errors + counts.errors,
      durationSum: sum.durationSum + counts.durationSum,
      durationMax: Math.max(sum.durationMax, counts.durationMax),
      buckets: mergeBuckets(sum.buckets, counts.buckets),
      errorBuckets: mergeBuckets(sum.errorBuckets, counts.errorBuckets),
    }),
    noRequestCounts,
  );

/**
 * Returns the Apdex threshold of a service: the requested one, otherwise its own, otherwise that of the organization.
 */
export const createThresholdLookup = (
  settings: ServiceSettings,
  overrideMs?: number,
): ((service: string) => number) => {
  const thresholdsByService = new Map(
    settings.services.map(({ service, apdexThresholdMs }) => [service, apdexThresholdMs]),
  );
  return (service) => overrideMs ?? thresholdsByService.get(service) ?? settings.apdexThresholdMs;
};

const unknownValue = (reason: string): z.output<typeof Unknown> => ({ value: null, reason });
const noRequestsValue = unknownValue('there were no requests');

/** Returns the request metrics for counts over a number of seconds. */
export const toRequestMetrics = (counts: RequestCounts, seconds: number, thresholdMs: number): RequestMetrics => {
  const { requests, errors } = counts;
  return {
    requests,
    errors,
    ratePerSecond: requests / seconds,
    errorRate: requests === 0 ? noRequestsValue : errors / requests,
    duration: requests === 0 ? noRequestsValue : toDurations(counts),
    apdex: computeApdex(counts, thresholdMs),
  };
};

/** Returns a quantile in nanoseconds, limited to the maximum duration. */
export const getDurationAtQuantile = (
  { buckets, durationMax }: RequestCounts,
  getQuantile: number,
): number | undefined => {
  const value = computeQuantile(buckets, getQuantile);
  return value === undefined ? undefined : Math.min(Math.round(value), durationMax);
};

const toDurations = (counts: RequestCounts): z.output<typeof Durations> => {
  const getQuantile = (share: number): number => getDurationAtQuantile(counts, share) ?? 0;
  return {
    mean: counts.durationSum / counts.requests,
    p50: getQuantile(0.5),
    p95: getQuantile(0.95),
    p99: getQuantile(0.99),
    max: counts.durationMax,
  };
};

const sumBuckets = (buckets: DurationBuckets, endBucket = Number.POSITIVE_INFINITY): number => {
  let sum = 0;
  for (const [bucket, spans] of buckets) if (bucket < endBucket) sum += spans;
  return sum;
};

export const computeApdex = (counts: RequestCounts, thresholdMs: number): RequestMetrics['apdex'] => {
  const { requests, errors, buckets, errorBuckets } = counts;
  if (requests === 0) return noRequestsValue;
  if (sumBuckets(errorBuckets) !== errors)
    return unknownValue(
      'some of these requests were counted by an earlier version, without durations of failed requests',
    );
  const thresholdBucket = getNearestBucket(thresholdMs * 1e6);
  const satisfied = sumBuckets(buckets, thresholdBucket) - sumBuckets(errorBuckets, thresholdBucket);
  const tolerated =
    sumBuckets(buckets, thresholdBucket + bucketsPerFourfold) -
    sumBuckets(errorBuckets, thresholdBucket + bucketsPerFourfold) -
    satisfied;
  return {
    value: (satisfied + tolerated / 2) / requests,
    thresholdMs,
    effectiveThresholdMs: getBucketStart(thresholdBucket) / 1e6,
    satisfied,
    tolerated,
    frustrated: requests - satisfied - tolerated,
  };
};
