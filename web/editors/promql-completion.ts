/** Metrics, labels and values that the PromQL editor suggests, from the Prometheus API */
import type { PrometheusClient } from '@prometheus-io/codemirror-promql';
import type { showLabels, showLabelValues } from '../../api/groups/prometheus/labels.ts';
import type { showMetadata } from '../../api/groups/prometheus/metadata.ts';
import { declareCall } from '../client/call.ts';
import { request } from '../client/request.ts';
import { projectId } from '../frame/project.ts';
import { timeRange, toMilliseconds } from '../frame/time-range.ts';

const labelsCall = declareCall<(typeof showLabels)[number]>('GET', '/api/prom/api/v1/labels');
const labelValuesCall = declareCall<typeof showLabelValues>('GET', '/api/prom/api/v1/label/{name}/values');
const metadataCall = declareCall<typeof showMetadata>('GET', '/api/prom/api/v1/metadata');

/** Maximum number of suggested names or values */
const maxItems = 10_000;
const cacheMs = 60_000;

const formatSeconds = (time: string, edge: 'start' | 'end'): string | undefined => {
  const ms = toMilliseconds(time, edge);
  return ms === undefined ? undefined : String(ms / 1000);
};

/** Returns the parameters for series of a metric in the time range and project of the page. */
const toSeriesParameters = (metricName = ''): Readonly<Record<string, string | undefined>> => ({
  start: formatSeconds(timeRange.peek().from, 'start'),
  end: formatSeconds(timeRange.peek().to, 'end'),
  projectId: projectId.peek(),
  limit: String(maxItems),
  // Metric names may have any characters, so the name is a matcher.
  'match[]': metricName === '' ? undefined : `{__name__=${JSON.stringify(metricName)}}`,
});

const results = new Map<string, { readonly expiresAt: number; readonly result: Promise<unknown> }>();

/** Loads a result, which is reused for a while for the same range. A failed request yields the empty result. */
const loadCached = <Result>(name: string, load: () => Promise<unknown>, emptyResult: Result): Promise<Result> => {
  const key = JSON.stringify([name, timeRange.peek(), projectId.peek()]);
  const cached = results.get(key);
  if (cached !== undefined && cached.expiresAt > Date.now()) return cached.result as Promise<Result>;
  const result = load().catch(() => {
    results.delete(key);
    return emptyResult;
  });
  results.set(key, { expiresAt: Date.now() + cacheMs, result });
  return result as Promise<Result>;
};

const loadLabelValues = (name: string, metricName?: string): Promise<string[]> =>
  loadCached(
    `values of ${name} ${metricName}`,
    async () => (await request(labelValuesCall, { params: { name }, query: toSeriesParameters(metricName) })).data,
    [],
  );

export const completionClient: PrometheusClient = {
  metricNames: () => loadLabelValues('__name__'),
  labelNames: (metricName) =>
    loadCached(
      `labels of ${metricName}`,
      async () => (await request(labelsCall, { query: toSeriesParameters(metricName) })).data,
      [],
    ),
  labelValues: loadLabelValues,
  metricMetadata: () =>
    loadCached(
      'metadata',
      async () => (await request(metadataCall, { query: { projectId: projectId.peek() || undefined } })).data,
      {},
    ),
  // The completion needs neither series nor the settings of a server.
  series: () => Promise.resolve([]),
  flags: () => Promise.resolve({}),
};
