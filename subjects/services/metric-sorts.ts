/** Sort orders of service and endpoint lists */
import type { RequestMetrics } from './request-counts.ts';

/** Metrics by which lists can be sorted */
export const metricSorts = ['requests', 'errors', 'errorRate', 'p50', 'p95', 'p99', 'apdex'] as const;
type MetricSort = (typeof metricSorts)[number];

/** Returns one of the metrics; `undefined` if it is unknown. */
export const getMetricValue = (
  { requests, errors, errorRate, duration, apdex }: RequestMetrics,
  sort: MetricSort,
): number | undefined => {
  switch (sort) {
    case 'requests':
      return requests;
    case 'errors':
      return errors;
    case 'errorRate':
      return typeof errorRate === 'number' ? errorRate : undefined;
    case 'apdex':
      return apdex.value ?? undefined;
    default:
      return 'p50' in duration ? duration[sort] : undefined;
  }
};
