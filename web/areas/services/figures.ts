/** Formats request metrics */
import { toCondition } from '../../frame/conditions.ts';
import { formatDuration } from '../../frame/durations.ts';
import type { Edge, RequestMetrics, Service } from './calls.ts';

const number = new Intl.NumberFormat('en');

/** Returns the metrics of a service that sends spans. */
export const requestMetrics = ({ figures }: Service): RequestMetrics | undefined =>
  'requests' in figures ? figures : undefined;

/** Returns a quantile in nanoseconds. */
export const latencyQuantile = (
  figures: RequestMetrics | undefined,
  name: 'p50' | 'p95' | 'p99',
): number | undefined => (figures !== undefined && 'p50' in figures.duration ? figures.duration[name] : undefined);

export const formatQuantile = (figures: RequestMetrics | undefined, name: 'p50' | 'p95' | 'p99'): string => {
  const value = latencyQuantile(figures, name);
  return value === undefined ? '' : formatDuration(value);
};

export const formatRequests = (figures: RequestMetrics | undefined): string =>
  figures === undefined ? '' : number.format(figures.requests);

/** Formats errors as `12 (3 %)`; empty if there are none. */
export const formatErrors = (figures: RequestMetrics | undefined): string => {
  if (figures === undefined || figures.errors === 0) return '';
  const share = Number(((figures.errors / figures.requests) * 100).toPrecision(2));
  return `${number.format(figures.errors)} (${share} %)`;
};

/** Returns for each service the dependency in whose calls it spends the most time. */
export const slowestDependencies = (edges: readonly Edge[]): ReadonlyMap<string, Edge> => {
  const totalTime = ({ requests, duration }: Edge): number => requests * (duration?.mean ?? 0);
  const slowest = new Map<string, Edge>();
  for (const edge of edges) {
    const isCall = edge.connection === 'request' || edge.connection === 'query';
    const before = slowest.get(edge.client.name);
    if (isCall && edge.client.kind === 'service' && totalTime(edge) > (before === undefined ? 0 : totalTime(before)))
      slowest.set(edge.client.name, edge);
  }
  return slowest;
};

/** Formats a dependency: `payments, p95 98 ms`. */
export const formatDependency = ({ server, duration }: Edge): string =>
  `${server.name || server.system || server.kind}${duration === null ? '' : `, p95 ${formatDuration(duration.p95)}`}`;

/** Returns a search for spans of a service that are slower than a duration in nanoseconds. */
export const slowSpansSearch = (name: string, p95: number): string =>
  `${toCondition('service', name)} duration:>${p95 < 10e6 ? `${Math.floor(p95 / 1e3)}us` : `${Math.floor(p95 / 1e6)}ms`}`;
