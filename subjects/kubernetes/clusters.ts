/** Clusters and their namespaces: contents, resource requests and usage */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { formatTime } from '../../queries/time.ts';
import { Known, known, unknown } from '../../queries/unknown.ts';
import { figure, KnownText, metricsOf, textOf } from '../infrastructure/figures.ts';
import { namespaceSources } from './names.ts';
import { type Node, nodeMetrics, nodesOf, overNodes, requestedBy } from './nodes.ts';
import { attributeOf, byMetric, chosenLabel, type PlacedCell, podsOf, readPlaced } from './objects.ts';
import { type Pod, podMetrics, podOf } from './pods.ts';
import { overPods, workloadMetrics, workloadsOf } from './workloads.ts';

const Phases = z
  .record(z.string(), z.int())
  .describe('Pods by phase; `Unknown` includes pods without a reported phase');

export const Cluster = z.strictObject({
  id: z.string(),
  name: KnownText,
  uid: KnownText,
  nodes: z.strictObject({
    count: z.int(),
    ready: Known.describe('Number of ready nodes among those that report readiness'),
    unknown: z.int().describe('Number of nodes with unknown readiness'),
  }),
  namespaces: z.int(),
  workloads: z.strictObject({ count: z.int(), degraded: z.int() }),
  pods: Phases,
  restarts: Known,
  cpu: z.strictObject({ allocatable: Known, requested: Known, used: Known }).describe('Processor cores'),
  memory: z.strictObject({ allocatable: Known, requested: Known, used: Known }).describe('Bytes'),
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
  restarts: Known,
  cpu: z.strictObject({ requested: Known, used: Known }).describe('Processor cores'),
  memory: z.strictObject({ requested: Known, used: Known }).describe('Bytes'),
  lastSeen: z.string(),
});
export type Namespace = z.output<typeof Namespace>;

const namespaceMetrics = metricsOf(namespaceSources);
const metrics = [...new Set([...nodeMetrics, ...podMetrics, ...workloadMetrics, ...namespaceMetrics])];

const phasesOf = (pods: readonly Pod[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const pod of pods) {
    const phase = pod.phase.value ?? 'Unknown';
    counts[phase] = (counts[phase] ?? 0) + 1;
  }
  return counts;
};

const lastOf = (cells: readonly PlacedCell[]): string =>
  formatTime(BigInt(cells.reduce((last, { atMs }) => Math.max(last, atMs), 0)) * 1_000_000n);

const noRequest = (kind: string): string =>
  `no ${kind} request was received in the last 10 minutes: the k8s_cluster receiver or kube-state-metrics reports it`;
const noCluster = 'the sender does not set k8s.cluster.name: set it with the resource or resourcedetection processor';

/** Returns series of nodes, pods, containers and workloads, without those of processes that only run in a pod. */
const isOfCluster = ({ place }: PlacedCell): boolean =>
  place.cluster !== '' || place.namespace !== '' || place.node !== '' || place.pod !== '';

/** Returns the total usage of pods, containers and workloads. */
const insideOf = (cells: readonly PlacedCell[]) => {
  const parts = [
    ...podsOf(
      cells.filter(({ metric }) => !metric.startsWith('k8s.node.') && !metric.startsWith('kube_node_')),
    ).values(),
  ];
  const pods = parts.map(podOf);
  const workloads = workloadsOf(cells);
  const used = (kind: 'cpu' | 'memory'): Known =>
    pods.length === 0 ? unknown('no pod is reported') : overPods(pods, (pod) => pod[kind]);
  return {
    parts,
    workloads: { count: workloads.length, degraded: workloads.filter(({ state }) => state === 'degraded').length },
    pods: phasesOf(pods),
    restarts: pods.length === 0 ? unknown('no pod is reported') : overPods(pods, ({ restarts }) => restarts),
    requested: (kind: 'cpu' | 'memory') => figure(requestedBy(parts, kind), noRequest(kind)),
    used,
  };
};

/** Returns clusters at the end of a range. */
export const readClusters = async (
  reading: Reading,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Cluster[]; readonly isCut: boolean }> => {
  const { cells, isCut } = await readPlaced(reading, range, scope, metrics);
  const clusters = Map.groupBy(cells.filter(isOfCluster), ({ place }) => place.cluster);
  return { isCut, items: [...clusters].map(([id, own]) => clusterOf(id, own)) };
};

const readinessOf = (nodes: readonly Node[]): Cluster['nodes'] => {
  const silent = nodes.filter(({ ready }) => ready.value === null);
  return {
    count: nodes.length,
    ready:
      silent.length < nodes.length
        ? known(nodes.filter(({ ready }) => ready.value === true).length)
        : unknown(silent[0]?.ready.reason ?? 'no sender reports its nodes'),
    unknown: silent.length,
  };
};

const clusterOf = (id: string, cells: readonly PlacedCell[]): Cluster => {
  const nodes = nodesOf(cells);
  const { parts, requested, used, workloads, pods, restarts } = insideOf(cells);
  const share = (kind: 'cpu' | 'memory') => {
    const byNodes = overNodes(nodes, (node) => node[kind].used);
    return {
      allocatable: overNodes(nodes, (node) => node[kind].allocatable),
      requested: requested(kind),
      used: byNodes.value === null ? used(kind) : byNodes,
    };
  };
  const all = byMetric(cells);
  return {
    id: id === '' ? 'unnamed' : id,
    name: textOf(attributeOf(all, 'k8s.cluster.name') ?? id, noCluster),
    uid: textOf(attributeOf(all, 'k8s.cluster.uid'), 'the sender does not set k8s.cluster.uid'),
    nodes: readinessOf(nodes),
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
    lastSeen: lastOf(cells),
  };
};

/** Returns namespaces at the end of a range. */
export const readNamespaces = async (
  reading: Reading,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Namespace[]; readonly isCut: boolean }> => {
  const { cells, isCut } = await readPlaced(reading, range, scope, metrics);
  const inNamespaces = cells.filter(({ place }) => place.namespace !== '');
  const namespaces = Map.groupBy(inNamespaces, ({ place }) => `${place.cluster}/${place.namespace}`);
  return { isCut, items: [...namespaces].map(([id, own]) => namespaceOf(id, own)) };
};

const namespaceOf = (id: string, cells: readonly PlacedCell[]): Namespace => {
  const { requested, used, workloads, pods, restarts } = insideOf(cells);
  const own = byMetric(cells.filter(({ metric }) => namespaceMetrics.includes(metric)));
  const number = own.get('k8s.namespace.phase')?.[0]?.value;
  const phase =
    chosenLabel(own, namespaceSources.phase, ['phase']) ??
    (number === undefined ? undefined : number > 0 ? 'Active' : 'Terminating');
  const place = cells[0]?.place;
  return {
    id,
    name: place?.namespace ?? '',
    cluster: textOf(place?.cluster, noCluster),
    phase: textOf(
      phase,
      'no phase was received in the last 10 minutes: the k8s_cluster receiver or kube-state-metrics reports it',
    ),
    workloads,
    pods,
    restarts,
    cpu: { requested: requested('cpu'), used: used('cpu') },
    memory: { requested: requested('memory'), used: used('memory') },
    lastSeen: lastOf(cells),
  };
};
