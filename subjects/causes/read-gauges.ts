/** Saturation of hosts, containers and pools by minute. */

import { canRead } from '../../queries/entitlement.ts';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { MetricQuery, Query } from '../../queries/query.ts';
import type { RunPartQuery } from '../../queries/query-kind.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { readHostSeries } from '../infrastructure/host-series.ts';
import { readHosts } from '../infrastructure/hosts.ts';
import { createNode } from '../services/edges.ts';
import { type Gauge, minuteMs } from './incident-context.ts';

const maxHosts = 20;
const resourceBySeries: Readonly<Record<string, Gauge['resource']>> = {
  'cpu.utilization': 'cpu',
  'memory.utilization': 'memory',
  'disk.utilization': 'disk',
};

const readHostGauges = async (
  reader: TenantReader,
  hosts: readonly string[],
  range: Range,
  scope: ProjectScope,
): Promise<Gauge[]> => {
  if (hosts.length === 0) return [];
  const { items } = await readHosts(reader, range, scope);
  const saturableHosts = items.flatMap((host) => {
    const hostName = hosts.find((name) => name === host.id || name === host.name.value);
    return hostName === undefined ? [] : [{ host, called: hostName }];
  });
  const gauges: Gauge[] = [];
  // Sequential, so that the queries do not occupy all query slots.
  for (const { host, called } of saturableHosts.slice(0, maxHosts)) {
    const { series } = await readHostSeries(reader, range, scope, {
      host,
      names: ['cpu', 'memory', 'disk'],
      stepMs: minuteMs,
    });
    for (const { name, points } of series) {
      const resource = resourceBySeries[name];
      if (resource === undefined) continue;
      gauges.push({
        resource,
        host: called,
        title: `${resource} of the host ${called}`,
        link: `/api/infrastructure/hosts/${encodeURIComponent(host.id)}`,
        values: points.flatMap(([at, value]) => (value === null ? [] : [[at, Number(value)] as const])),
      });
    }
  }
  return gauges;
};

const usedConnectionMetrics = ['db.client.connection.count', 'db.client.connections.usage'] as const;
const maxConnectionMetrics = ['db.client.connection.max', 'db.client.connections.max'] as const;
/** Utilization metrics of senders, as a share of a limit. */
const utilizationMetrics: Readonly<Record<string, Gauge['resource']>> = {
  'k8s.container.memory_limit_utilization': 'memory',
  'k8s.container.cpu_limit_utilization': 'cpu',
  'k8s.pod.memory_limit_utilization': 'memory',
  'k8s.pod.cpu_limit_utilization': 'cpu',
  'process.cpu.utilization': 'cpu',
};

const readAvailableMetrics = async ({ columns }: TenantReader): Promise<ReadonlySet<string>> => {
  const rows = await columns.query<{ metric: string }>(
    `SELECT DISTINCT toString(metric) AS metric FROM series WHERE tenant_id = {tenant:String} AND metric IN {metrics:Array(String)}`,
    { metrics: [...usedConnectionMetrics, ...maxConnectionMetrics, ...Object.keys(utilizationMetrics)] },
  );
  return new Set(rows.map(({ metric }) => metric));
};

const createMetricQuery = (
  metric: string,
  across: MetricQuery['across'],
  groupBy: readonly string[],
  search?: string,
): MetricQuery => ({
  kind: 'metric',
  metric,
  overTime: 'avg',
  across,
  groupBy: [...groupBy],
  limit: 1000,
  ...(search !== undefined && { search }),
});

/** Returns the limited resources of services that have metrics, with the queries for their utilization. */
const createSaturationQueries = (
  availableMetrics: ReadonlySet<string>,
): { readonly resource: Gauge['resource']; readonly query: Query }[] => [
  ...Object.entries(utilizationMetrics).flatMap(([metric, resource]) =>
    availableMetrics.has(metric) ? [{ resource, query: createMetricQuery(metric, 'max', ['service']) }] : [],
  ),
  ...usedConnectionMetrics.flatMap((metric, index) => {
    const limit = maxConnectionMetrics[index] ?? '';
    if (!availableMetrics.has(metric) || !availableMetrics.has(limit)) return [];
    const pool = index === 0 ? 'db.client.connection.pool.name' : 'pool.name';
    const state = index === 0 ? 'db.client.connection.state' : 'state';
    const queries = {
      used: createMetricQuery(metric, 'sum', ['service', pool], `${state}:used`),
      most: createMetricQuery(limit, 'sum', ['service', pool]),
    };
    return [{ resource: 'pool' as const, query: { kind: 'formula' as const, expression: 'used / most', queries } }];
  }),
];

const readServiceGauges = async (
  reader: TenantReader,
  services: readonly string[],
  range: Range,
  runPart: RunPartQuery,
): Promise<Gauge[]> => {
  const gauges: Gauge[] = [];
  for (const { resource, query } of createSaturationQueries(await readAvailableMetrics(reader))) {
    const { series } = await runPart(query, { range, stepMs: minuteMs });
    for (const { labels, points } of series) {
      const service = labels['service'] ?? '';
      if (!services.includes(service)) continue;
      const pool = Object.entries(labels).find(([name]) => name.endsWith('pool.name'))?.[1];
      gauges.push({
        resource,
        node: createNode('service', service).id,
        link: '',
        title: pool === undefined ? `${resource} of ${service}` : `the pool ${pool} of ${service}`,
        values: points.flatMap(([at, value]) => (value === null ? [] : [[at, Number(value)] as const])),
      });
    }
  }
  return gauges;
};

/** Reads the saturation of the resources and hosts that services of a path use. */
export const readGauges = async (
  reader: TenantReader,
  { services, hosts }: { readonly services: readonly string[]; readonly hosts: readonly string[] },
  range: Range,
  scope: ProjectScope,
  runPart: RunPartQuery,
): Promise<Gauge[]> =>
  canRead(reader, 'metrics')
    ? [
        ...(await readHostGauges(reader, hosts, range, scope)),
        ...(await readServiceGauges(reader, services, range, runPart)),
      ]
    : [];
