/** Clusters and their namespaces: contents, resource requests and usage */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { NumberOrReason, toKnownNumber, toUnknownNumber } from '../../queries/unknown-numbers.ts';
import { KnownText, listSourceMetrics, toKnown, toKnownText } from '../infrastructure/item-values.ts';
import { namespaceSources } from './names.ts';
import { type Node, nodeMetrics, sumOverNodes, sumRequests, toNodes } from './nodes.ts';
import {
  findActiveLabel,
  findAttribute,
  groupByMetric,
  groupByPod,
  type PositionedCell,
  readPositionedCells,
} from './objects.ts';
import { type Pod, podMetrics, toPod } from './pods.ts';
import { sumOverPods, toWorkloads, workloadMetrics } from './workloads.ts';

const Phases = z
  .record(z.string(), z.int())
  .describe('Pods by phase; `Unknown` includes pods without a reported phase');

export const Cluster = z.strictObject({
  id: z.string(),
  name: KnownText,
  uid: KnownText,
  nodes: z.strictObject({
    count: z.int(),
    ready: NumberOrReason.describe('Number of ready nodes among those that report readiness'),
    unknown: z.int().describe('Number of nodes with unknown readiness'),
  }),
  namespaces: z.int(),
  workloads: z.strictObject({ count: z.int(), degraded: z.int() }),
  pods: Phases,
  restarts: NumberOrReason,
  cpu: z
    .strictObject({ allocatable: NumberOrReason, requested: NumberOrReason, used: NumberOrReason })
    .describe('Processor cores'),
  memory: z
    .strictObject({ allocatable: NumberOrReason, requested: NumberOrReason, used: NumberOrReason })
    .describe('Bytes'),
  lastSeen: z.string(),
});
export type Cluster = z.output<typeof Cluster>;

export const Namespace = z.strictObject({
  id: z.string().describe('Cluster and name'),
  name: z.string(),
  cluster: KnownText,
  phase: KnownText.describe('`Active` or `Terminating`'),
  workloads: z.strictObject({ count: z.int(), degraded: z.int() }),
  pods: Phases,
  restarts: NumberOrReason,
  cpu: z.strictObject({ requested: NumberOrReason, used: NumberOrReason }).describe('Processor cores'),
  memory: z.strictObject({ requested: NumberOrReason, used: NumberOrReason }).describe('Bytes'),
  lastSeen: z.string(),
});
export type Namespace = z.output<typeof Namespace>;

const namespaceMetrics = listSourceMetrics(namespaceSources);
const metrics = [...new Set([...nodeMetrics, ...podMetrics, ...workloadMetrics, ...namespaceMetrics])];

const countPhases = (pods: readonly Pod[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const pod of pods) {
    const phase = pod.phase.value ?? 'Unknown';
    counts[phase] = (counts[phase] ?? 0) + 1;
  }
  return counts;
};

const formatLastSeen = (cells: readonly PositionedCell[]): string =>
  formatTime(BigInt(cells.reduce((last, { atMs }) => Math.max(last, atMs), 0)) * 1_000_000n);

const noRequestReason = (kind: string): string =>
  `no ${kind} request was received in the last 10 minutes: the k8s_cluster receiver or kube-state-metrics reports it`;
const noClusterReason =
  'the sender does not set k8s.cluster.name: set it with the resource or resourcedetection processor';

/** Returns series of nodes, pods, containers and workloads, without those of processes that only run in a pod. */
const belongsToCluster = ({ position }: PositionedCell): boolean =>
  position.cluster !== '' || position.namespace !== '' || position.node !== '' || position.pod !== '';

/** Returns the total usage of pods, containers and workloads. */
const summarizeContents = (cells: readonly PositionedCell[]) => {
  const parts = [
    ...groupByPod(
      cells.filter(({ metric }) => !metric.startsWith('k8s.node.') && !metric.startsWith('kube_node_')),
    ).values(),
  ];
  const pods = parts.map(toPod);
  const workloads = toWorkloads(cells);
  const used = (kind: 'cpu' | 'memory'): NumberOrReason =>
    pods.length === 0 ? toUnknownNumber('no pod is reported') : sumOverPods(pods, (pod) => pod[kind]);
  return {
    parts,
    workloads: { count: workloads.length, degraded: workloads.filter(({ state }) => state === 'degraded').length },
    pods: countPhases(pods),
    restarts: pods.length === 0 ? toUnknownNumber('no pod is reported') : sumOverPods(pods, ({ restarts }) => restarts),
    requested: (kind: 'cpu' | 'memory') => toKnown(sumRequests(parts, kind), noRequestReason(kind)),
    used,
  };
};

/** Returns clusters at the end of a range. */
export const readClusters = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Cluster[]; readonly isTruncated: boolean }> => {
  const { cells, isTruncated } = await readPositionedCells(reader, range, scope, metrics);
  const clusters = Map.groupBy(cells.filter(belongsToCluster), ({ position }) => position.cluster);
  return { isTruncated, items: [...clusters].map(([id, clusterCells]) => toCluster(id, clusterCells)) };
};

const summarizeReadiness = (nodes: readonly Node[]): Cluster['nodes'] => {
  const nodesWithoutReadiness = nodes.filter(({ ready }) => ready.value === null);
  return {
    count: nodes.length,
    ready:
      nodesWithoutReadiness.length < nodes.length
        ? toKnownNumber(nodes.filter(({ ready }) => ready.value === true).length)
        : toUnknownNumber(nodesWithoutReadiness[0]?.ready.reason ?? 'no sender reports its nodes'),
    unknown: nodesWithoutReadiness.length,
  };
};

const toCluster = (id: string, cells: readonly PositionedCell[]): Cluster => {
  const nodes = toNodes(cells);
  const { parts, requested, used, workloads, pods, restarts } = summarizeContents(cells);
  const summarizeResource = (kind: 'cpu' | 'memory') => {
    const usedByNodes = sumOverNodes(nodes, (node) => node[kind].used);
    return {
      allocatable: sumOverNodes(nodes, (node) => node[kind].allocatable),
      requested: requested(kind),
      used: usedByNodes.value === null ? used(kind) : usedByNodes,
    };
  };
  const cellsByMetric = groupByMetric(cells);
  return {
    id: id === '' ? 'unnamed' : id,
    name: toKnownText(findAttribute(cellsByMetric, 'k8s.cluster.name') ?? id, noClusterReason),
    uid: toKnownText(findAttribute(cellsByMetric, 'k8s.cluster.uid'), 'the sender does not set k8s.cluster.uid'),
    nodes: summarizeReadiness(nodes),
    namespaces: new Set(
      [...cells.map(({ position }) => position.namespace), ...parts.map(({ position }) => position.namespace)].filter(
        (name) => name !== '',
      ),
    ).size,
    workloads,
    pods,
    restarts,
    cpu: summarizeResource('cpu'),
    memory: summarizeResource('memory'),
    lastSeen: formatLastSeen(cells),
  };
};

/** Returns namespaces at the end of a range. */
export const readNamespaces = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Namespace[]; readonly isTruncated: boolean }> => {
  const { cells, isTruncated } = await readPositionedCells(reader, range, scope, metrics);
  const inNamespaces = cells.filter(({ position }) => position.namespace !== '');
  const namespaces = Map.groupBy(inNamespaces, ({ position }) => `${position.cluster}/${position.namespace}`);
  return { isTruncated, items: [...namespaces].map(([id, namespaceCells]) => toNamespace(id, namespaceCells)) };
};

const toNamespace = (id: string, cells: readonly PositionedCell[]): Namespace => {
  const { requested, used, workloads, pods, restarts } = summarizeContents(cells);
  const phaseCells = groupByMetric(cells.filter(({ metric }) => namespaceMetrics.includes(metric)));
  const phaseNumber = phaseCells.get('k8s.namespace.phase')?.[0]?.value;
  const phase =
    findActiveLabel(phaseCells, namespaceSources.phase, ['phase']) ??
    (phaseNumber === undefined ? undefined : phaseNumber > 0 ? 'Active' : 'Terminating');
  const position = cells[0]?.position;
  return {
    id,
    name: position?.namespace ?? '',
    cluster: toKnownText(position?.cluster, noClusterReason),
    phase: toKnownText(
      phase,
      'no phase was received in the last 10 minutes: the k8s_cluster receiver or kube-state-metrics reports it',
    ),
    workloads,
    pods,
    restarts,
    cpu: { requested: requested('cpu'), used: used('cpu') },
    memory: { requested: requested('memory'), used: used('memory') },
    lastSeen: formatLastSeen(cells),
  };
};
