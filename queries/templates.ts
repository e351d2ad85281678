/** Query templates of the platform, to run unchanged, or to save and edit. */
import type { QueryRequest } from './query.ts';

export interface QueryTemplate {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Recommended step; without one the result is a table. */
  readonly step?: string;
  readonly query: QueryRequest;
}

const count = { function: 'count' } as const;
const failedCount = { function: 'count', search: 'status:error', as: 'failed' } as const;
const durationPercentile = (value: number) =>
  ({ function: 'percentile', field: 'duration', percentile: value }) as const;
const latencyPercentiles = [durationPercentile(50), durationPercentile(95), durationPercentile(99)];
/** Requests received by a service, excluding its outgoing calls. */
const entrySpanSearch = 'kind:server OR kind:consumer';

const buildRateQuery = (metric: string, groupBy: readonly string[]): QueryRequest => ({
  kind: 'metric',
  metric,
  overTime: 'rate',
  groupBy: [...groupBy],
});
const buildAverageQuery = (metric: string, groupBy: readonly string[]): QueryRequest => ({
  kind: 'metric',
  metric,
  overTime: 'avg',
  across: 'avg',
  groupBy: [...groupBy],
});

export const templates: readonly QueryTemplate[] = [
  {
    id: 'logs-by-severity',
    name: 'Log records by severity',
    tags: ['logs'],
    step: '1m',
    description: 'Number of log records by severity, per minute',
    query: { kind: 'aggregate', signal: 'logs', measures: [count], groupBy: ['severity'] },
  },
  {
    id: 'errors-by-service',
    name: 'Errors in logs by service',
    tags: ['logs', 'errors'],
    description: 'Services with the most error records',
    query: { kind: 'aggregate', signal: 'logs', search: 'severity:>=error', measures: [count], groupBy: ['service'] },
  },
  {
    id: 'error-share-of-logs',
    name: 'Share of errors in logs',
    tags: ['logs', 'errors'],
    step: '5m',
    description: 'Percentage of error records among the log records of each service',
    query: {
      kind: 'formula',
      expression: '100 * errors / all',
      queries: {
        errors: {
          kind: 'aggregate',
          signal: 'logs',
          groupBy: ['service'],
          measures: [{ ...count, search: 'severity:>=error' }],
        },
        all: { kind: 'aggregate', signal: 'logs', measures: [count], groupBy: ['service'] },
      },
    },
  },
  {
    id: 'newest-errors',
    name: 'Newest errors in logs',
    tags: ['logs', 'errors'],
    description: 'The last 100 error records',
    query: {
      kind: 'rows',
      signal: 'logs',
      search: 'severity:>=error',
      fields: ['timestamp', 'service', 'severity', 'body', 'traceId'],
    },
  },
  {
    id: 'exceptions-in-logs',
    name: 'Exceptions in logs by type',
    tags: ['logs', 'errors'],
    description: 'Log records with an exception, by exception type and service',
    query: {
      kind: 'aggregate',
      signal: 'logs',
      search: 'exception.type:*',
      measures: [count],
      groupBy: ['exception.type', 'service'],
    },
  },
  {
    id: 'loudest-services',
    name: 'Services with the most log records',
    tags: ['logs', 'cost'],
    description: 'Log records by service, in total and per second',
    query: { kind: 'aggregate', signal: 'logs', measures: [count, { function: 'rate' }], groupBy: ['service'] },
  },
  {
    id: 'logs-by-pod',
    name: 'Log records by pod',
    tags: ['logs', 'kubernetes'],
    description: 'Log volume by pod and namespace',
    query: {
      kind: 'aggregate',
      signal: 'logs',
      measures: [count],
      groupBy: ['resource.k8s.namespace.name', 'resource.k8s.pod.name'],
    },
  },
  {
    id: 'requests-by-service',
    name: 'Requests, errors and latency by service',
    tags: ['traces', 'services'],
    description: 'Requests per second, failures and duration percentiles of each service',
    query: {
      kind: 'aggregate',
      signal: 'traces',
      search: entrySpanSearch,
      measures: [{ function: 'rate' }, failedCount, ...latencyPercentiles],
      groupBy: ['service'],
    },
  },
  {
    id: 'error-rate-of-requests',
    name: 'Share of failed requests',
    tags: ['traces', 'errors'],
    step: '1m',
    description: 'Percentage of failed requests of each service',
    query: {
      kind: 'formula',
      expression: '100 * failed / all',
      queries: {
        failed: {
          kind: 'aggregate',
          signal: 'traces',
          search: entrySpanSearch,
          measures: [failedCount],
          groupBy: ['service'],
        },
        all: { kind: 'aggregate', signal: 'traces', search: entrySpanSearch, measures: [count], groupBy: ['service'] },
      },
    },
  },
  {
    id: 'latency-over-time',
    name: 'Latency of requests over time',
    tags: ['traces', 'latency'],
    step: '1m',
    description: 'Percentiles of request durations over all services',
    query: { kind: 'aggregate', signal: 'traces', search: entrySpanSearch, measures: latencyPercentiles },
  },
  {
    id: 'slowest-operations',
    name: 'Slowest operations',
    tags: ['traces', 'latency'],
    description: 'Operations by the 95th percentile of their durations',
    query: {
      kind: 'aggregate',
      signal: 'traces',
      search: entrySpanSearch,
      groupBy: ['service', 'name'],
      limit: 50,
      measures: [durationPercentile(95), count],
    },
  },
  {
    id: 'slowest-spans',
    name: 'Newest slow spans',
    tags: ['traces', 'latency'],
    description: 'Spans that took longer than a second, newest first',
    query: {
      kind: 'rows',
      signal: 'traces',
      search: 'duration:>1s',
      fields: ['timestamp', 'service', 'name', 'duration', 'status', 'traceId'],
    },
  },
  {
    id: 'requests-by-route',
    name: 'Requests by route',
    tags: ['traces', 'http'],
    description: 'Requests, failures and latency of each HTTP route',
    query: {
      kind: 'aggregate',
      signal: 'traces',
      search: 'kind:server http.route:*',
      measures: [count, failedCount, durationPercentile(95)],
      groupBy: ['service', 'http.route'],
    },
  },
  {
    id: 'status-codes',
    name: 'HTTP status codes',
    tags: ['traces', 'http'],
    step: '1m',
    description: 'Responses by status code, per minute',
    query: {
      kind: 'aggregate',
      signal: 'traces',
      search: 'kind:server http.response.status_code:*',
      measures: [count],
      groupBy: ['http.response.status_code'],
    },
  },
  {
    id: 'database-calls',
    name: 'Database calls',
    tags: ['traces', 'databases'],
    description: 'Database calls by system and service, with their latency',
    query: {
      kind: 'aggregate',
      signal: 'traces',
      search: 'kind:client db.system.name:*',
      measures: [count, failedCount, durationPercentile(95)],
      groupBy: ['db.system.name', 'service'],
    },
  },
  {
    id: 'messages-by-queue',
    name: 'Messages by queue',
    tags: ['traces', 'messaging'],
    description: 'Messages consumed from each queue or topic, and their processing time',
    query: {
      kind: 'aggregate',
      signal: 'traces',
      search: 'kind:consumer messaging.destination.name:*',
      measures: [count, failedCount, durationPercentile(95)],
      groupBy: ['messaging.destination.name', 'service'],
    },
  },
  {
    id: 'versions-in-use',
    name: 'Versions in use',
    tags: ['traces', 'deployments'],
    description: 'Requests and failures by service version',
    query: {
      kind: 'aggregate',
      signal: 'traces',
      search: entrySpanSearch,
      measures: [count, failedCount],
      groupBy: ['service', 'resource.service.version'],
    },
  },
  {
    id: 'requests-by-metric',
    name: 'Requests a second, by metric',
    tags: ['metrics', 'http'],
    step: '1m',
    description: 'Requests measured by servers, by route',
    query: buildRateQuery('http.server.request.duration', ['http.route']),
  },
  {
    id: 'latency-by-metric',
    name: 'Latency, by metric',
    tags: ['metrics', 'http', 'latency'],
    step: '1m',
    description: '95th percentile of the durations measured by servers',
    query: { kind: 'metric', metric: 'http.server.request.duration', overTime: 'quantile', quantile: 0.95 },
  },
  {
    id: 'cpu-by-host',
    name: 'CPU usage by host',
    tags: ['metrics', 'infrastructure'],
    step: '1m',
    description: 'CPU seconds per second, by host and state',
    query: buildRateQuery('system.cpu.time', ['host.name', 'state']),
  },
  {
    id: 'memory-by-host',
    name: 'Memory by host',
    tags: ['metrics', 'infrastructure'],
    step: '1m',
    description: 'Memory in bytes by host and state',
    query: buildAverageQuery('system.memory.usage', ['host.name', 'state']),
  },
  {
    id: 'cpu-by-pod',
    name: 'CPU usage by pod',
    tags: ['metrics', 'kubernetes'],
    step: '1m',
    description: 'CPUs used by each pod',
    query: buildAverageQuery('k8s.pod.cpu.usage', ['k8s.namespace.name', 'k8s.pod.name']),
  },
];
