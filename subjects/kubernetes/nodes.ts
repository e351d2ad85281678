/** Nodes of clusters: conditions, capacity, resource requests and usage */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { NumberOrReason, toUnknownNumber } from '../../queries/unknown-numbers.ts';
import {
  type CellsByMetric,
  explainMissing,
  getSourceValues,
  KnownText,
  listSourceMetrics,
  sumValues,
  toKnown,
  toKnownRatio,
  toKnownSum,
  toKnownText,
} from '../infrastructure/item-values.ts';
import { conditionNames, containerSources, nodeSources, podSources } from './names.ts';
import {
  findAttribute,
  groupByMetric,
  groupByPod,
  type PodParts,
  type PositionedCell,
  readPositionedCells,
} from './objects.ts';
import { findPhase } from './pods.ts';

const ResourceShare = z.strictObject({
  allocatable: NumberOrReason,
  requested: NumberOrReason.describe('Requested by containers of pods that have not ended'),
  used: NumberOrReason,
  allocatableUtilization: NumberOrReason.describe('Use as a share of the allocatable amount'),
});

export const Node = z.strictObject({
  id: z.string(),
  name: z.string(),
  cluster: KnownText,
  ready: z.strictObject({ value: z.boolean().nullable(), reason: z.string().nullable() }),
  conditions: z.array(z.strictObject({ type: z.string(), status: z.enum(['true', 'false', 'unknown']) })),
  kubeletVersion: KnownText,
  cpu: ResourceShare.describe('Processor cores'),
  memory: ResourceShare.describe('Bytes'),
  pods: z.strictObject({
    running: z.int().describe('Pods on the node that have not ended'),
    allocatable: NumberOrReason,
  }),
  lastSeen: z.string(),
});
export type Node = z.output<typeof Node>;

const { cpuRequest, memoryRequest } = containerSources;
const { phase, phaseNumber, about } = podSources;
export const nodeMetrics = [
  ...new Set([
    ...listSourceMetrics(nodeSources),
    ...listSourceMetrics({ cpuRequest, memoryRequest, phase, phaseNumber, about }),
  ]),
];

/** Returns nodes at the end of a range. */
export const readNodes = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Node[]; readonly isTruncated: boolean }> => {
  const { cells, isTruncated } = await readPositionedCells(reader, range, scope, nodeMetrics);
  return { items: toNodes(cells), isTruncated };
};

/** Returns whether a pod still occupies its requested resources. */
export const hasNotEnded = (pod: PodParts): boolean => !['Succeeded', 'Failed'].includes(findPhase(pod) ?? '');

/** Returns the total requests of the containers of pods; `undefined` if no container reports a request. */
export const sumRequests = (pods: readonly PodParts[], kind: 'cpu' | 'memory'): number | undefined => {
  const sources = containerSources[`${kind}Request`];
  const parts = pods
    .filter(hasNotEnded)
    .flatMap(({ containers }) => containers.flatMap(({ cells }) => sumValues(cells, sources) ?? []));
  return parts.length === 0 ? undefined : parts.reduce((sum, value) => sum + value, 0);
};

const isNodeMetric = ({ metric }: PositionedCell): boolean =>
  metric.startsWith('k8s.node.') || metric.startsWith('kube_node_');

/** Returns the nodes of these series. */
export const toNodes = (cells: readonly PositionedCell[]): Node[] => {
  const pods = [...groupByPod(cells.filter((cell) => !isNodeMetric(cell))).values()];
  const podsByNode = Map.groupBy(pods, ({ position }) => `${position.cluster}/${position.node}`);
  const allNodeCells = cells.filter((cell) => isNodeMetric(cell) && cell.position.node !== '');
  return [...Map.groupBy(allNodeCells, ({ position }) => `${position.cluster}/${position.node}`)].map(
    ([key, nodeCells]) => toNode(key, nodeCells, podsByNode.get(key) ?? []),
  );
};

const clusterMetricsHint = 'the k8s_cluster receiver or kube-state-metrics reports it';
const notReceivedReason = (objectKind: string, source: string): string =>
  `no ${objectKind} was received in the last 10 minutes: ${source}`;

const toNode = (id: string, nodeCells: readonly PositionedCell[], pods: readonly PodParts[]): Node => {
  const cells = groupByMetric(nodeCells);
  const conditions = readConditions(cells);
  const ready = conditions.find(({ type }) => type === 'Ready');
  const summarizeResource = (kind: 'cpu' | 'memory'): z.output<typeof ResourceShare> => {
    const sources = nodeSources[kind];
    const allocatable = toKnownSum(
      cells,
      nodeSources[`${kind}Allocatable`],
      notReceivedReason(
        `allocatable ${kind}`,
        `the k8s_cluster receiver sends it with allocatable_types_to_report: [${kind}], and kube-state-metrics always sends it`,
      ),
    );
    const used = toKnownSum(
      cells,
      sources,
      explainMissing(cells, sources, notReceivedReason(`${kind} use`, 'the kubeletstats receiver reports it')),
    );
    return {
      allocatable,
      used,
      requested: toKnown(sumRequests(pods, kind), notReceivedReason(`${kind} request of its pods`, clusterMetricsHint)),
      allocatableUtilization: toKnownRatio(used, allocatable),
    };
  };
  return {
    id,
    name: nodeCells[0]?.position.node ?? '',
    cluster: toKnownText(nodeCells[0]?.position.cluster, 'the sender does not set k8s.cluster.name'),
    ready:
      ready === undefined || ready.status === 'unknown'
        ? {
            value: null,
            reason:
              ready === undefined
                ? notReceivedReason('condition', clusterMetricsHint)
                : 'its kubelet does not respond to the control plane',
          }
        : { value: ready.status === 'true', reason: null },
    conditions,
    kubeletVersion: toKnownText(
      findAttribute(cells, 'k8s.kubelet.version') ?? cells.get('kube_node_info')?.[0]?.labels['kubelet_version'],
      'the resource attribute k8s.kubelet.version of the k8s_cluster receiver is off by default',
    ),
    cpu: summarizeResource('cpu'),
    memory: summarizeResource('memory'),
    pods: {
      running: pods.filter(hasNotEnded).length,
      allocatable: toKnownSum(
        cells,
        nodeSources.podsAllocatable,
        notReceivedReason('allocatable pods', clusterMetricsHint),
      ),
    },
    lastSeen: formatTime(BigInt(nodeCells.reduce((last, { atMs }) => Math.max(last, atMs), 0)) * 1_000_000n),
  };
};

type Condition = Node['conditions'][number];

const parseStatus = (text: string | undefined): Condition['status'] => {
  const status = text?.toLowerCase();
  return status === 'true' || status === 'false' ? status : 'unknown';
};

/** Returns conditions from one metric per condition: 1, 0 and -1. */
const readNumberedConditions = (cells: CellsByMetric): Condition[] =>
  nodeSources.conditionNumbers.flatMap((source) =>
    getSourceValues(cells, source).flatMap(({ cell, value }): Condition[] => {
      const type = conditionNames[source.metric] ?? cell.labels['condition'];
      return type === undefined ? [] : [{ type, status: value > 0 ? 'true' : value < 0 ? 'unknown' : 'false' }];
    }),
  );

/** Returns conditions from one series per condition and status, of which one is 1. */
const readLabelledConditions = (cells: CellsByMetric): Condition[] =>
  nodeSources.conditions.flatMap((source) =>
    getSourceValues(cells, source).flatMap(({ cell: { labels }, value }): Condition[] => {
      const type = labels['k8s.node.condition.type'] ?? labels['condition'];
      if (type === undefined || !(value > 0)) return [];
      return [{ type, status: parseStatus(labels['k8s.node.condition.status'] ?? labels['status']) }];
    }),
  );

/** Returns conditions by name, without duplicates. */
const readConditions = (cells: CellsByMetric): Condition[] => {
  const conditionsByType = new Map(
    [...readNumberedConditions(cells), ...readLabelledConditions(cells)].map((condition) => [
      condition.type,
      condition,
    ]),
  );
  return [...conditionsByType.values()].toSorted((left, right) => (left.type < right.type ? -1 : 1));
};

/** Returns the sum of a value over nodes; unknown if it is unknown for a node. */
export const sumOverNodes = (nodes: readonly Node[], getValue: (node: Node) => NumberOrReason): NumberOrReason => {
  if (nodes.length === 0) return toUnknownNumber('no node is reported');
  const nodeWithoutValue = nodes.find((node) => getValue(node).value === null);
  if (nodeWithoutValue !== undefined)
    return toUnknownNumber(`of node ${nodeWithoutValue.name}: ${getValue(nodeWithoutValue).reason}`);
  return toKnown(
    nodes.reduce((sum, node) => sum + (getValue(node).value ?? 0), 0),
    '',
  );
};
