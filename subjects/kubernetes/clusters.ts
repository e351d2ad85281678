/** Clusters and their namespaces: contents, resource requests and usage */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { formatTime } from '../../queries/time.ts';
import { knownNumber, NumberOrReason, unknownNumber } from '../../queries/unknown.ts';
import { KnownText, sourceMetrics, toKnown, toKnownText } from '../infrastructure/figures.ts';
import { namespaceSources } from './names.ts';
import { type Node, nodeMetrics, sumOverNodes, sumRequests, toNodes } from './nodes.ts';
import {
  activeLabel,
  byMetric,
  findAttribute,
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

const namespaceMetrics = sourceMetrics(namespaceSources);
const metrics = [...new Set([...nodeMetrics, ...podMetrics, ...workloadMetrics, ...namespaceMetrics])];

const countPhases = (pods: readonly Pod[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const pod of pods) {
    const phase = pod.phase.value ?? 'Unknown';
    counts[phase] = (counts[phase] ?? 0) + 1;
  }
  return counts;
};

const lastSeenText = (cells: readonly PositionedCell[]): string =>
  formatTime(BigInt(cells.reduce((last, { atMs }) => Math.max(last, atMs), 0)) * 1_000_000n);

const noRequestReason = (kind: string): string =>
  `no ${kind} request was received in the last 10 minutes: the k8s_cluster receiver or kube-state-metrics reports it`;
const noCluster = 'the sender does not set k8s.cluster.name: set it with the resource or resourcedetection processor';

/** Returns series of nodes, pods, containers and workloads, without those of processes that only run in a pod. */
const belongsToCluster = ({ place }: PositionedCell): boolean =>
  place.cluster !== '' || place.namespace !== '' || place.node !== '' || place.pod !== '';

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
    pods.length === 0 ? unknownNumber('no pod is reported') : sumOverPods(pods, (pod) => pod[kind]);
  return {
    parts,
    workloads: { count: workloads.length, degraded: workloads.filter(({ state }) => state === 'degraded').length },
    pods: countPhases(pods),
    restarts: pods.length === 0 ? unknownNumber('no pod is reported') : sumOverPods(pods, ({ restarts }) => restarts),
    requested: (kind: 'cpu' | 'memory') => toKnown(sumRequests(parts, kind), noRequestReason(kind)),
    used,
  };
};

/** Returns clusters at the end of a range. */
export const readClusters = async (
  reading: Reading,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Cluster[]; readonly isCut: boolean }> => {
  const { cells, isCut } = await readPositionedCells(reading, range, scope, metrics);
  const clusters = Map.groupBy(cells.filter(belongsToCluster), ({ place }) => place.cluster);
  return { isCut, items: [...clusters].map(([id, own]) => toCluster(id, own)) };
};

const summarizeReadiness = (nodes: readonly Node[]): Cluster['nodes'] => {
  const nodesWithoutReadiness = nodes.filter(({ ready }) => ready.value === null);
  return {
    count: nodes.length,
    ready:
      nodesWithoutReadiness.length < nodes.length
        ? knownNumber(nodes.filter(({ ready }) => ready.value === true).length)
        : unknownNumber(nodesWithoutReadiness[0]?.ready.reason ?? 'no sender reports its nodes'),
    unknown: nodesWithoutReadiness.length,
  };
};

const toCluster = (id: string, cells: readonly PositionedCell[]): Cluster => {
  const nodes = toNodes(cells);
  const { parts, requested, used, workloads, pods, restarts } = summarizeContents(cells);
  const share = (kind: 'cpu' | 'memory') => {
    const byNodes = sumOverNodes(nodes, (node) => node[kind].used);
    return {
      allocatable: sumOverNodes(nodes, (node) => node[kind].allocatable),
      requested: requested(kind),
      used: byNodes.value === null ? used(kind) : byNodes,
    };
  };
  const all = byMetric(cells);
  return {
    id: id === '' ? 'unnamed' : id,
    name: toKnownText(findAttribute(all, 'k8s.cluster.name') ?? id, noCluster),
    uid: toKnownText(findAttribute(all, 'k8s.cluster.uid'), 'the sender does not set k8s.cluster.uid'),
    nodes: summarizeReadiness(nodes),
    namespaces: new Set(
      [...cells.map(({ place }) => place.namespace), ...parts.map(({ place }) => place.namespace)].filter(
        (name) => name !== '',
      ),
    ).size,
    workloads,
    pods,
    restarts,
    cpu: share('cpu'),
    memory: share('memory'),
    lastSeen: lastSeenText(cells),
  };
};

/** Returns namespaces at the end of a range. */
export const readNamespaces = async (
  reading: Reading,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Namespace[]; readonly isCut: boolean }> => {
  const { cells, isCut } = await readPositionedCells(reading, range, scope, metrics);
  const inNamespaces = cells.filter(({ place }) => place.namespace !== '');
  const namespaces = Map.groupBy(inNamespaces, ({ place }) => `${place.cluster}/${place.namespace}`);
  return { isCut, items: [...namespaces].map(([id, own]) => toNamespace(id, own)) };
};

const toNamespace = (id: string, cells: readonly PositionedCell[]): Namespace => {
  const { requested, used, workloads, pods, restarts } = summarizeContents(cells);
  const own = byMetric(cells.filter(({ metric }) => namespaceMetrics.includes(metric)));
  const number = own.get('k8s.namespace.phase')?.[0]?.value;
  const phase =
    activeLabel(own, namespaceSources.phase, ['phase']) ??
    (number === undefined ? undefined : number > 0 ? 'Active' : 'Terminating');
  const place = cells[0]?.place;
  return {
    id,
    name: place?.namespace ?? '',
    cluster: toKnownText(place?.cluster, noCluster),
    phase: toKnownText(
      phase,
      'no phase was received in the last 10 minutes: the k8s_cluster receiver or kube-state-metrics reports it',
    ),
    workloads,
    pods,
    restarts,
    cpu: { requested: requested('cpu'), used: used('cpu') },
    memory: { requested: requested('memory'), used: used('memory') },
    lastSeen: lastSeenText(cells),
  };
};
