/** Predefined detectors. Each is suggested if its telemetry is received and no detector has the same query. */
import { isDeepStrictEqual } from 'node:util';
import { parseQuery } from '../../queries/run.ts';
import { DetectorFields } from '../anomalies/detector.ts';
import type { Catalogue } from '../questions/catalogue.ts';
import type { Suggestion } from './suggestion.ts';

interface PredefinedDetector {
  readonly name: string;
  readonly description: string;
  /**
   * Returns the received telemetry that the detector would watch, with a description for people; `undefined` if
   * there is none.
   */
  findTelemetry(
    catalogue: Catalogue,
  ): { readonly description: string; readonly count: number; readonly query: object } | undefined;
  readonly direction: 'up' | 'down' | 'both';
  readonly minChange?: number;
}

const serverRequests = 'kind:server';

const createServiceFinder =
  (signal: 'logs' | 'traces', query: object) =>
  (catalogue: Catalogue): ReturnType<PredefinedDetector['findTelemetry']> => {
    const { services } = catalogue[signal];
    const count = services.length;
    return count === 0
      ? undefined
      : { description: `${count} ${count === 1 ? 'service sends' : 'services send'} ${signal}`, count, query };
  };

/** Returns the first of these metrics that is received. */
const createMetricFinder =
  (names: readonly string[], createQuery: (metric: string) => object) =>
  ({ metrics }: Catalogue): ReturnType<PredefinedDetector['findTelemetry']> => {
    const metric = names.find((name) => metrics.some((metric) => metric.name === name));
    return metric === undefined
      ? undefined
      : { description: `the metric ${metric} is received`, count: 1, query: createQuery(metric) };
  };

const createSpanQuery = (search: string, measure: object) => ({
  kind: 'aggregate',
  signal: 'traces',
  search,
  measures: [measure],
  groupBy: ['service'],
  limit: 1000,
});

const predefinedDetectors: readonly PredefinedDetector[] = [
  {
    name: 'Requests of services',
    description: 'Number of requests per service',
    findTelemetry: createServiceFinder('traces', createSpanQuery(serverRequests, { function: 'count' })),
    direction: 'both',
    minChange: 20,
  },
  {
    name: 'Failed requests of services',
    description: 'Number of failed requests per service',
    findTelemetry: createServiceFinder(
      'traces',
      createSpanQuery(`${serverRequests} status:error`, { function: 'count' }),
    ),
    direction: 'up',
    minChange: 5,
  },
  {
    name: 'Slow requests of services',
    description: '95th percentile of the request duration per service',
    findTelemetry: createServiceFinder(
      'traces',
      createSpanQuery(serverRequests, { function: 'percentile', field: 'duration', percentile: 95 }),
    ),
    direction: 'up',
  },
  {
    name: 'Error logs of services',
    description: 'Number of error records per service',
    findTelemetry: createServiceFinder('logs', {
      kind: 'aggregate',
      signal: 'logs',
      search: 'severity:>=error',
      measures: [{ function: 'count' }],
      groupBy: ['service'],
      limit: 1000,
    }),
    direction: 'up',
    minChange: 5,
  },
  {
    name: 'Warnings and errors by log pattern',
    description: 'Number of warnings and errors per log pattern and service',
    findTelemetry: createServiceFinder('logs', {
      kind: 'aggregate',
      signal: 'log-patterns',
      search: 'severity:>=warn',
      measures: [{ function: 'count' }],
      groupBy: ['service', 'template'],
      limit: 1000,
    }),
    direction: 'up',
    minChange: 5,
  },
  {
    name: 'CPU of hosts',
    description: 'CPU utilization per host',
    findTelemetry: createMetricFinder(
      ['system.cpu.utilization', 'system.cpu.time', 'node_cpu_seconds_total'],
      (metric) =>
        metric === 'node_cpu_seconds_total'
          ? { kind: 'metric', metric, search: '-mode:idle', overTime: 'rate', groupBy: ['instance'], limit: 1000 }
          : {
              kind: 'metric',
              metric,
              search: '-state:idle',
              groupBy: ['host.name'],
              limit: 1000,
              overTime: metric === 'system.cpu.time' ? 'rate' : 'avg',
            },
    ),
    direction: 'both',
  },
  {
    name: 'Memory of hosts',
    description: 'Memory utilization per host',
    findTelemetry: createMetricFinder(
      ['system.memory.utilization', 'system.memory.usage', 'node_memory_MemAvailable_bytes'],
      (metric) =>
        metric === 'node_memory_MemAvailable_bytes'
          ? { kind: 'metric', metric, overTime: 'avg', groupBy: ['instance'], limit: 1000 }
          : { kind: 'metric', metric, search: 'state:used', overTime: 'avg', groupBy: ['host.name'], limit: 1000 },
    ),
    direction: 'both',
  },
  {
    name: 'Lag of queues',
    description: 'Lag of consumers behind producers',
    findTelemetry: createMetricFinder(
      [
        'kafka.consumer_group.lag_sum',
        'kafka.consumer_group.lag',
        'kafka_consumergroup_lag',
        'rabbitmq.message.current',
      ],
      (metric) => ({
        kind: 'metric',
        metric,
        overTime: 'max',
        limit: 1000,
        groupBy: [
          metric === 'kafka_consumergroup_lag'
            ? 'consumergroup'
            : metric.startsWith('rabbitmq')
              ? 'rabbitmq.queue.name'
              : 'group',
        ],
      }),
    ),
    direction: 'up',
    minChange: 100,
  },
];

export const suggestDetectors = (
  catalogue: Catalogue,
  existingDetectors: readonly Pick<DetectorFields, 'query'>[],
): Suggestion[] =>
  predefinedDetectors.flatMap(({ name, description, findTelemetry, direction, minChange = 0 }): Suggestion[] => {
    const telemetry = findTelemetry(catalogue);
    if (telemetry === undefined) return [];
    const body = DetectorFields.parse({
      name,
      description,
      direction,
      minChange,
      query: parseQuery(telemetry.query),
    });
    if (existingDetectors.some(({ query }) => isDeepStrictEqual(query, body.query))) return [];
    return [
      {
        kind: 'detector',
        subject: name,
        title: `Watch for anomalies: ${name}`,
        weight: telemetry.count,
        evidence: `${telemetry.description}, and no detector queries it`,
        effect: `${description} is evaluated every minute, with at most one false alarm per week over all series`,
        request: { method: 'POST', path: '/api/ai/detectors', body },
      },
    ];
  });
