/** Nodes of clusters: conditions, capacity, resource requests and usage */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { formatTime } from '../../queries/time.ts';
import { Known, unknown } from '../../queries/unknown.ts';
import {
  type CellsByMetric,
  figure,
  figureOf,
  KnownText,
  metricsOf,
  missing,
  ratioOf,
  textOf,
  totalOf,
  valuesOf,
} from '../infrastructure/figures.ts';
import { conditionNames, containerSources, nodeSources, podSources } from './names.ts';
import { attributeOf, byMetric, type PlacedCell, type PodParts, podsOf, readPlaced } from './objects.ts';
import { phaseOf } from './pods.ts';

const Share = z.strictObject({
  allocatable: Known,
  requested: Known.describe('Requested by containers of pods that have not ended'),
  used: Known,
  allocatableUtilization: Known.describe('Use as a share of the allocatable amount'),
});

export const Node = z.strictObject({
  id: z.string(),
  name: z.string(),
  cluster: KnownText,
  ready: z.strictObject({ value: z.boolean().nullable(), reason: z.string().nullable() }),
  conditions: z.array(z.strictObject({ type: z.string(), status: z.enum(['true', 'false', 'unknown']) })),
  kubeletVersion: KnownText,
  cpu: Share.describe('Processor cores'),
  memory: Share.describe('Bytes'),
  pods: z.strictObject({ running: z.int().describe('Pods on the node that have not ended'), allocatable: Known }),
  lastSeen: z.string(),
});
export type Node = z.output<typeof Node>;

const { cpuRequest, memoryRequest } = containerSources;
const { phase, phaseNumber, about } = podSources;
export const nodeMetrics = [
  ...new Set([...metricsOf(nodeSources), ...metricsOf({ cpuRequest, memoryRequest, phase, phaseNumber, about })]),
];

/** Returns nodes at the end of a range. */
export const readNodes = async (
  reading: Reading,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Node[]; readonly isCut: boolean }> => {
  const { cells, isCut } = await readPlaced(reading, range, scope, nodeMetrics);
  return { items: nodesOf(cells), isCut };
};

/** Returns whether a pod still occupies its requested resources. */
export const isLive = (pod: PodParts): boolean => !['Succeeded', 'Failed'].includes(phaseOf(pod) ?? '');

/** Returns the total requests of the containers of pods; `undefined` if no container reports a request. */
export const requestedBy = (pods: readonly PodParts[], kind: 'cpu' | 'memory'): number | undefined => {
  const sources = containerSources[`${kind}Request`];
  const parts = pods
    .filter(isLive)
    .flatMap(({ containers }) => containers.flatMap(({ cells }) => totalOf(cells, sources) ?? []));
  return parts.length === 0 ? undefined : parts.reduce((sum, value) => sum + value, 0);
};

const isOfNode = ({ metric }: PlacedCell): boolean => metric.startsWith('k8s.node.') || metric.startsWith('kube_node_');

/** Returns the nodes of these series. */
export const nodesOf = (cells: readonly PlacedCell[]): Node[] => {
  const pods = [...podsOf(cells.filter((cell) => !isOfNode(cell))).values()];
  const podsByNode = Map.groupBy(pods, ({ place }) => `${place.cluster}/${place.node}`);
  const ofNodes = cells.filter((cell) => isOfNode(cell) && cell.place.node !== '');
  return [...Map.groupBy(ofNodes, ({ place }) => `${place.cluster}/${place.node}`)].map(([key, own]) =>
    nodeOf(key, own, podsByNode.get(key) ?? []),
  );
};

const by = 'the k8s_cluster receiver or kube-state-metrics reports it';
const noMetric = (what: string, source: string): string => `no ${what} was received in the last 10 minutes: ${source}`;

const nodeOf = (id: string, own: readonly PlacedCell[], pods: readonly PodParts[]): Node => {
  const cells = byMetric(own);
  const conditions = conditionsOf(cells);
  const ready = conditions.find(({ type }) => type === 'Ready');
  const share = (kind: 'cpu' | 'memory'): z.output<typeof Share> => {
    const sources = nodeSources[kind];
    const allocatable = figureOf(
      cells,
      nodeSources[`${kind}Allocatable`],
      noMetric(
        `allocatable ${kind}`,
        `the k8s_cluster receiver sends it with allocatable_types_to_report: [${kind}], and kube-state-metrics always sends it`,
      ),
    );
    const used = figureOf(
      cells,
      sources,
      missing(cells, sources, noMetric(`${kind} use`, 'the kubeletstats receiver reports it')),
    );
    return {
      allocatable,
      used,
      requested: figure(requestedBy(pods, kind), noMetric(`${kind} request of its pods`, by)),
      allocatableUtilization: ratioOf(used, allocatable),
    };
  };
  return {
    id,
    name: own[0]?.place.node ?? '',
    cluster: textOf(own[0]?.place.cluster, 'the sender does not set k8s.cluster.name'),
    ready:
      ready === undefined || ready.status === 'unknown'
        ? {
            value: null,
            reason:
              ready === undefined ? noMetric('condition', by) : 'its kubelet does not respond to the control plane',
          }
        : { value: ready.status === 'true', reason: null },
    conditions,
    kubeletVersion: textOf(
      attributeOf(cells, 'k8s.kubelet.version') ?? cells.get('kube_node_info')?.[0]?.labels['kubelet_version'],
      'the resource attribute k8s.kubelet.version of the k8s_cluster receiver is off by default',
    ),
    cpu: share('cpu'),
    memory: share('memory'),
    pods: {
      running: pods.filter(isLive).length,
      allocatable: figureOf(cells, nodeSources.podsAllocatable, noMetric('allocatable pods', by)),
    },
    lastSeen: formatTime(BigInt(own.reduce((last, { atMs }) => Math.max(last, atMs), 0)) * 1_000_000n),
  };
};

type Condition = Node['conditions'][number];

const statusOf = (text: string | undefined): Condition['status'] => {
  const status = text?.toLowerCase();
  return status === 'true' || status === 'false' ? status : 'unknown';
};

/** Returns conditions from one metric per condition: 1, 0 and -1. */
const numbered = (cells: CellsByMetric): Condition[] =>
  nodeSources.conditionNumbers.flatMap((source) =>
    valuesOf(cells, source).flatMap(({ cell, value }): Condition[] => {
      const type = conditionNames[source.metric] ?? cell.labels['condition'];
      return type === undefined ? [] : [{ type, status: value > 0 ? 'true' : value < 0 ? 'unknown' : 'false' }];
    }),
  );

/** Returns conditions from one series per condition and status, of which one is 1. */
const labelled = (cells: CellsByMetric): Condition[] =>
  nodeSources.conditions.flatMap((source) =>
    valuesOf(cells, source).flatMap(({ cell: { labels }, value }): Condition[] => {
      const type = labels['k8s.node.condition.type'] ?? labels['condition'];
      if (type === undefined || !(value > 0)) return [];
      return [{ type, status: statusOf(labels['k8s.node.condition.status'] ?? labels['status']) }];
    }),
  );

/** Returns conditions by name, without duplicates. */
const conditionsOf = (cells: CellsByMetric): Condition[] => {
  const found = new Map([...numbered(cells), ...labelled(cells)].map((condition) => [condition.type, condition]));
  return [...found.values()].toSorted((one, other) => (one.type < other.type ? -1 : 1));
};

/** Returns the sum of a value over nodes; unknown if it is unknown for a node. */
export const overNodes = (nodes: readonly Node[], read: (node: Node) => Known): Known => {
  if (nodes.length === 0) return unknown('no node is reported');
  const nodeWithoutValue = nodes.find((node) => read(node).value === null);
  if (nodeWithoutValue !== undefined)
    return unknown(`of node ${nodeWithoutValue.name}: ${read(nodeWithoutValue).reason}`);
  return figure(
    nodes.reduce((sum, node) => sum + (read(node).value ?? 0), 0),
    '',
  );
};
