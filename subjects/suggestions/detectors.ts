/** Predefined detectors. Each is suggested if its telemetry is received and no detector has the same query. */
import { isDeepStrictEqual } from 'node:util';
import { parseQuery } from '../../queries/run.ts';
import { DetectorFields } from '../anomalies/detector.ts';
import type { Catalogue } from '../questions/catalogue.ts';
import type { Suggestion } from './suggestion.ts';

interface PredefinedDetector {
  readonly name: string;
  readonly description: string;
  /** Returns the received telemetry that the detector would watch, for people; `undefined` if there is none. */
  watches(catalogue: Catalogue): { readonly what: string; readonly count: number; readonly query: object } | undefined;
  readonly direction: 'up' | 'down' | 'both';
  readonly minChange?: number;
}

const serverRequests = 'kind:server';

const watchServices =
  (signal: 'logs' | 'traces', query: object) =>
  (catalogue: Catalogue): ReturnType<PredefinedDetector['watches']> => {
    const { services } = catalogue[signal];
    const count = services.length;
    return count === 0
      ? undefined
      : { what: `${count} ${count === 1 ? 'service sends' : 'services send'} ${signal}`, count, query };
  };

/** Returns the first of these metrics that is received. */
const watchMetric =
  (names: readonly string[], queryFor: (metric: string) => object) =>
  ({ metrics }: Catalogue): ReturnType<PredefinedDetector['watches']> => {
    const metric = names.find((name) => metrics.some((each) => each.name === name));
    return metric === undefined
      ? undefined
      : { what: `the metric ${metric} is received`, count: 1, query: queryFor(metric) };
  };

const spanQuery = (search: string, measure: object) => ({
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
    watches: watchServices('traces', spanQuery(serverRequests, { function: 'count' })),
    direction: 'both',
    minChange: 20,
  },
  {
    name: 'Failed requests of services',
    description: 'Number of failed requests per service',
    watches: watchServices('traces', spanQuery(`${serverRequests} status:error`, { function: 'count' })),
    direction: 'up',
    minChange: 5,
  },
  {
    name: 'Slow requests of services',
    description: '95th percentile of the request duration per service',
    watches: watchServices(
      'traces',
      spanQuery(serverRequests, { function: 'percentile', field: 'duration', percentile: 95 }),
    ),
    direction: 'up',
  },
  {
    name: 'Error logs of services',
    description: 'Number of error records per service',
    watches: watchServices('logs', {
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
    watches: watchServices('logs', {
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
    watches: watchMetric(['system.cpu.utilization', 'system.cpu.time', 'node_cpu_seconds_total'], (metric) =>
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
    watches: watchMetric(
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
    watches: watchMetric(
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
  present: readonly Pick<DetectorFields, 'query'>[],
): Suggestion[] =>
  predefinedDetectors.flatMap(({ name, description, watches, direction, minChange = 0 }): Suggestion[] => {
    const watched = watches(catalogue);
    if (watched === undefined) return [];
    const body = DetectorFields.parse({
      name,
      description,
      direction,
      minChange,
      query: parseQuery(watched.query),
    });
    if (present.some(({ query }) => isDeepStrictEqual(query, body.query))) return [];
    return [
      {
        kind: 'detector',
        subject: name,
        title: `Watch for anomalies: ${name}`,
        weight: watched.count,
        evidence: `${watched.what}, and no detector queries it`,
        effect: `${description} is evaluated every minute, with at most one false alarm per week over all series`,
        request: { method: 'POST', path: '/api/ai/detectors', body },
      },
    ];
  });
