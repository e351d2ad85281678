/** Network topology: flows as nodes and edges */

import { z } from 'zod';
import { addToList } from '../../schemas/add-to-list.ts';
import { type Flow, FlowsPartial } from './flow.ts';

const bytes = z.number();

export const Topology = z.strictObject({
  nodes: z.array(
    z.strictObject({
      id: z.string(),
      kind: z.string(),
      name: z.string(),
      bytesOut: bytes.describe('Bytes sent over the returned edges'),
      bytesIn: bytes.describe('Bytes received over the returned edges'),
    }),
  ),
  edges: z.array(
    z.strictObject({
      source: z.string().describe('Id of the source node'),
      destination: z.string().describe('Id of the destination node'),
      bytes,
      bytesPerSecond: z.number(),
      isCountedOnce: z
        .boolean()
        .nullable()
        .describe('Whether traffic is counted once; `null` if traffic that both endpoints report may count twice'),
    }),
  ),
  partial: FlowsPartial,
  reason: z.string().nullable().describe('Why there are no flows; `null` if there are some'),
});
export type Topology = z.output<typeof Topology>;

/**
 * Returns the edges with the most bytes, and their nodes. Total bytes out of all nodes equal total bytes into all
 * nodes.
 */
export const buildTopology = (flows: readonly Flow[], limit: number): Pick<Topology, 'nodes' | 'edges' | 'partial'> => {
  const edges = new Map<string, Topology['edges'][number]>();
  const nodes = new Map<string, Topology['nodes'][number]>();
  const flowsByPair = new Map<string, Flow[]>();
  for (const flow of flows) {
    const key = JSON.stringify([flow.source.id, flow.destination.id]);
    addToList(flowsByPair, key, flow);
  }
  for (const [key, pairFlows] of flowsByPair) edges.set(key, toEdge(pairFlows));
  const largest = [...edges.values()].sort(
    (left, right) =>
      right.bytes - left.bytes || (left.source + left.destination < right.source + right.destination ? -1 : 1),
  );
  const largestEdges = largest.slice(0, limit);
  const endpointsById = new Map(
    flows.flatMap(({ source, destination }) => [source, destination]).map((end) => [end.id, end]),
  );
  const getNode = (id: string): Topology['nodes'][number] => {
    const { kind = '', name = '' } = endpointsById.get(id) ?? {};
    const node = nodes.get(id) ?? { id, kind, name, bytesOut: 0, bytesIn: 0 };
    nodes.set(id, node);
    return node;
  };
  for (const edge of largestEdges) {
    getNode(edge.source).bytesOut += edge.bytes;
    getNode(edge.destination).bytesIn += edge.bytes;
  }
  return {
    nodes: [...nodes.values()].sort((left, right) => (left.id < right.id ? -1 : 1)),
    edges: largestEdges,
    partial:
      largest.length > limit
        ? [{ code: 'groups', message: `there are ${largest.length} edges: these are the ${limit} with the most bytes` }]
        : [],
  };
};

/** Routers and agents may observe the same traffic, so the larger count of the two is used. */
const toEdge = (flows: readonly Flow[]): Topology['edges'][number] => {
  const selectObserver = (seenBy: Flow['seenBy']) => flows.filter((flow) => flow.seenBy === seenBy);
  const sumFlows = (selectedFlows: readonly Flow[], key: 'bytes' | 'bytesPerSecond') =>
    selectedFlows.reduce((total, flow) => total + flow[key], 0);
  const [agents, exporters] = [selectObserver('ebpf'), selectObserver('exporter')];
  const dominant = sumFlows(agents, 'bytes') >= sumFlows(exporters, 'bytes') ? agents : exporters;
  return {
    source: flows[0]?.source.id ?? '',
    destination: flows[0]?.destination.id ?? '',
    bytes: sumFlows(dominant, 'bytes'),
    bytesPerSecond: sumFlows(dominant, 'bytesPerSecond'),
    isCountedOnce: dominant.every(({ isCountedOnce: countedOnce }) => countedOnce.value === true) ? true : null,
  };
};
