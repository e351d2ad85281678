/** Who exchanges data with whom: flows as nodes and edges. */
import { z } from 'zod';
import { type Flow, FlowsPartial } from './flow.ts';

const bytes = z.number();

export const Topology = z.strictObject({
  nodes: z.array(
    z.strictObject({
      id: z.string(),
      kind: z.string(),
      name: z.string(),
      bytesOut: bytes.describe('Of the edges that are shown'),
      bytesIn: bytes.describe('Of the edges that are shown'),
    }),
  ),
  edges: z.array(
    z.strictObject({
      source: z.string().describe('Id of a node'),
      destination: z.string().describe('Id of a node'),
      bytes,
      bytesPerSecond: z.number(),
      isCountedOnce: z.boolean().nullable().describe('Null where what both ends reported may count twice'),
    }),
  ),
  partial: FlowsPartial,
  reason: z.string().nullable().describe('Why there are no flows; null if there are'),
});
export type Topology = z.output<typeof Topology>;

/** The edges with the most bytes, and their nodes. Bytes out of all nodes are bytes into all of them. */
export const topologyOf = (flows: readonly Flow[], limit: number): Pick<Topology, 'nodes' | 'edges' | 'partial'> => {
  const edges = new Map<string, Topology['edges'][number]>();
  const nodes = new Map<string, Topology['nodes'][number]>();
  const between = new Map<string, Flow[]>();
  for (const flow of flows) {
    const key = JSON.stringify([flow.source.id, flow.destination.id]);
    between.set(key, [...(between.get(key) ?? []), flow]);
  }
  for (const [key, same] of between) edges.set(key, edgeOf(same));
  const largest = [...edges.values()].sort(
    (one, other) =>
      other.bytes - one.bytes || (one.source + one.destination < other.source + other.destination ? -1 : 1),
  );
  const shown = largest.slice(0, limit);
  const ends = new Map(flows.flatMap(({ source, destination }) => [source, destination]).map((end) => [end.id, end]));
  const nodeOf = (id: string): Topology['nodes'][number] => {
    const { kind = '', name = '' } = ends.get(id) ?? {};
    const node = nodes.get(id) ?? { id, kind, name, bytesOut: 0, bytesIn: 0 };
    nodes.set(id, node);
    return node;
  };
  for (const edge of shown) {
    nodeOf(edge.source).bytesOut += edge.bytes;
    nodeOf(edge.destination).bytesIn += edge.bytes;
  }
  return {
    nodes: [...nodes.values()].sort((one, other) => (one.id < other.id ? -1 : 1)),
    edges: shown,
    partial:
      largest.length > limit
        ? [{ code: 'groups', message: `there are ${largest.length} edges: these are the ${limit} with the most bytes` }]
        : [],
  };
};

/** Routers and agents may have seen the same traffic: of the two, the one that saw more has it. */
const edgeOf = (flows: readonly Flow[]): Topology['edges'][number] => {
  const of = (seenBy: Flow['seenBy']) => flows.filter((flow) => flow.seenBy === seenBy);
  const sum = (some: readonly Flow[], key: 'bytes' | 'bytesPerSecond') =>
    some.reduce((total, flow) => total + flow[key], 0);
  const [agents, exporters] = [of('ebpf'), of('exporter')];
  const dominant = sum(agents, 'bytes') >= sum(exporters, 'bytes') ? agents : exporters;
  return {
    source: flows[0]?.source.id ?? '',
    destination: flows[0]?.destination.id ?? '',
    bytes: sum(dominant, 'bytes'),
    bytesPerSecond: sum(dominant, 'bytesPerSecond'),
    isCountedOnce: dominant.every(({ isCountedOnce: countedOnce }) => countedOnce.value === true) ? true : null,
  };
};
