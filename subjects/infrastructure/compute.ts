/** Compute resources: hosts and containers, and their number by provider, region and type */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { NumberOrReason } from '../../queries/unknown-numbers.ts';
import { type Cell, readCells } from './cells.ts';
import { identifyHost } from './host-identity.ts';
import { type Host, readHosts, recentRange } from './hosts.ts';
import {
  type CellsByMetric,
  explainMissing,
  KnownText,
  listRateMetrics,
  listSourceMetrics,
  toKnownSum,
  toKnownText,
} from './item-values.ts';
import { containerSources } from './names.ts';

export const Compute = z.strictObject({
  id: z.string(),
  kind: z.enum(['instance', 'container']),
  name: KnownText,
  provider: KnownText,
  region: KnownText,
  zone: KnownText,
  type: KnownText.describe('Machine type of an instance; image of a container'),
  account: KnownText,
  host: KnownText.describe('Host of a container'),
  state: z.enum(['active', 'silent']),
  lastSeen: KnownText,
  cpuCores: NumberOrReason.describe('Used processor cores'),
  memory: NumberOrReason.describe('Used bytes'),
});
export type Compute = z.output<typeof Compute>;

export const ComputeGroup = z.strictObject({
  kind: z.enum(['instance', 'container']),
  provider: z.string().nullable().describe('Cloud provider; `null` if unknown'),
  region: z.string().nullable(),
  type: z.string().nullable(),
  count: z.int(),
  active: z.int(),
});

const labels: readonly string[] = [
  'name',
  'container',
  'container_name',
  'namespace',
  'pod',
  'pod_name',
  'image',
  'id',
  'instance',
  'node',
];
const metrics = listSourceMetrics(containerSources);
const counters = listRateMetrics(containerSources);

/** Returns hosts, and containers that sent points in the last minutes of a range. */
export const readCompute = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Compute[]; readonly isTruncated: boolean }> => {
  const [hosts, { cells, isTruncated }] = await Promise.all([
    readHosts(reader, range, scope),
    readCells(reader, { metrics, counters, labels, range: recentRange(range), ...scope }),
  ]);
  const containers = Map.groupBy(cells, toContainerKey);
  return {
    isTruncated: hosts.isTruncated || isTruncated,
    items: [
      ...hosts.items.map(toInstance),
      ...[...containers].flatMap(([key, containerCells]) =>
        key === undefined ? [] : [toContainer(key, containerCells)],
      ),
    ],
  };
};

const toInstance = (host: Host): Compute => ({
  id: `instance:${host.id}`,
  kind: 'instance',
  name: host.name,
  provider: host.cloud.provider,
  region: host.cloud.region,
  zone: host.cloud.zone,
  account: host.cloud.account,
  type: host.cloud.instanceType,
  host: toKnownText(host.id, ''),
  state: host.state,
  lastSeen: host.lastSeen,
  cpuCores: host.cpu.cores,
  memory: host.memory.used,
});

/**
 * Identifies a container by its position in a pod, which is stable across restarts; otherwise by its own id or name.
 */
const toContainerKey = ({ resource, labels: cellLabels, metric }: Cell): string | undefined => {
  const name = resource['k8s.container.name'] ?? cellLabels['container'] ?? cellLabels['container_name'];
  const pod = resource['k8s.pod.name'] ?? cellLabels['pod'] ?? cellLabels['pod_name'];
  if (name === 'POD') return undefined;
  if (pod !== undefined && name !== undefined && name !== '') {
    const namespace = resource['k8s.namespace.name'] ?? cellLabels['namespace'] ?? '';
    return `${namespace}/${pod}/${name}`;
  }
  const standaloneId =
    resource['container.id'] ??
    resource['container.name'] ??
    (metric.startsWith('container_') ? cellLabels['name'] : undefined);
  return standaloneId === undefined ? undefined : String(standaloneId);
};

const notReportedReason = 'not reported by the sender';

const toContainer = (id: string, containerCells: readonly Cell[]): Compute => {
  const newest = containerCells.reduce((left, right) => (right.atMs > left.atMs ? right : left));
  const latestCells = containerCells.filter(({ atMs }) => newest.atMs - atMs <= 150_000);
  const cells: CellsByMetric = Map.groupBy(latestCells, ({ metric }) => metric);
  const resource = Object.assign({}, ...latestCells.map((cell) => cell.resource)) as Cell['resource'];
  const cellLabels = Object.assign({}, ...latestCells.map((cell) => cell.labels)) as Cell['labels'];
  const { id: hostId, name: hostName } = identifyHost(resource, cellLabels, new Map());
  const host = hostId ?? hostName;
  const noUsageReason =
    'this metric was not received in the last 10 minutes: the collector receivers docker_stats and kubeletstats, or cAdvisor, send it';
  return {
    id: `container:${id}`,
    kind: 'container',
    name: toKnownText(
      resource['k8s.container.name'] ?? resource['container.name'] ?? cellLabels['container'] ?? cellLabels['name'],
      notReportedReason,
    ),
    provider: toKnownText(resource['cloud.provider'], notReportedReason),
    region: toKnownText(resource['cloud.region'], notReportedReason),
    zone: toKnownText(resource['cloud.availability_zone'], notReportedReason),
    type: toKnownText(resource['container.image.name'] ?? cellLabels['image'], notReportedReason),
    account: toKnownText(resource['cloud.account.id'], notReportedReason),
    host: toKnownText(host, notReportedReason),
    state: 'active',
    lastSeen: toKnownText(formatTime(BigInt(newest.atMs) * 1_000_000n), ''),
    cpuCores: toKnownSum(cells, containerSources.cpu, explainMissing(cells, containerSources.cpu, noUsageReason)),
    memory: toKnownSum(cells, containerSources.memory, noUsageReason),
  };
};

/** Returns the number of each kind, provider, region and type, in descending order. */
export const countComputeGroups = (items: readonly Compute[]): z.output<typeof ComputeGroup>[] =>
  [
    ...Map.groupBy(items, ({ kind, provider, region, type }) =>
      JSON.stringify([kind, provider.value, region.value, type.value]),
    ).values(),
  ]
    .flatMap((groupItems) => {
      const [first] = groupItems;
      if (first === undefined) return [];
      return [
        {
          kind: first.kind,
          provider: first.provider.value,
          region: first.region.value,
          type: first.type.value,
          count: groupItems.length,
          active: groupItems.filter(({ state }) => state === 'active').length,
        },
      ];
    })
    .toSorted((left, right) => right.count - left.count);
