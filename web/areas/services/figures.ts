/** Formats request metrics */
import { toCondition } from '../../frame/conditions.ts';
import { formatDuration } from '../../frame/durations.ts';
import type { Edge, RequestMetrics, Service } from './calls.ts';

const numberFormat = new Intl.NumberFormat('en');

/** Returns the metrics of a service that sends spans. */
export const getRequestMetrics = ({ figures }: Service): RequestMetrics | undefined =>
  'requests' in figures ? figures : undefined;

/** Returns a quantile in nanoseconds. */
export const getLatencyQuantile = (
  metrics: RequestMetrics | undefined,
  name: 'p50' | 'p95' | 'p99',
): number | undefined => (metrics !== undefined && 'p50' in metrics.duration ? metrics.duration[name] : undefined);

export const formatQuantile = (metrics: RequestMetrics | undefined, name: 'p50' | 'p95' | 'p99'): string => {
  const value = getLatencyQuantile(metrics, name);
  return value === undefined ? '' : formatDuration(value);
};

export const formatRequests = (metrics: RequestMetrics | undefined): string =>
  metrics === undefined ? '' : numberFormat.format(metrics.requests);

/** Formats errors as `12 (3 %)`; empty if there are none. */
export const formatErrors = (metrics: RequestMetrics | undefined): string => {
  if (metrics === undefined || metrics.errors === 0) return '';
  const share = Number(((metrics.errors / metrics.requests) * 100).toPrecision(2));
  return `${numberFormat.format(metrics.errors)} (${share} %)`;
};

/** Returns for each service the dependency in whose calls it spends the most time. */
export const findSlowestDependencies = (edges: readonly Edge[]): ReadonlyMap<string, Edge> => {
  const getTotalTime = ({ requests, duration }: Edge): number => requests * (duration?.mean ?? 0);
  const slowestByService = new Map<string, Edge>();
  for (const edge of edges) {
    const isCall = edge.connection === 'request' || edge.connection === 'query';
    const previousEdge = slowestByService.get(edge.client.name);
    if (
      isCall &&
      edge.client.kind === 'service' &&
      getTotalTime(edge) > (previousEdge === undefined ? 0 : getTotalTime(previousEdge))
    )
      slowestByService.set(edge.client.name, edge);
  }
  return slowestByService;
};

/** Formats a dependency: `payments, p95 98 ms`. */
export const formatDependency = ({ server, duration }: Edge): string =>
  `${server.name || server.system || server.kind}${duration === null ? '' : `, p95 ${formatDuration(duration.p95)}`}`;

/** Returns a search for spans of a service that are slower than a duration in nanoseconds. */
export const buildSlowSpansSearch = (name: string, p95: number): string =>
  `${toCondition('service', name)} duration:>${p95 < 10e6 ? `${Math.floor(p95 / 1e3)}us` : `${Math.floor(p95 / 1e6)}ms`}`;
