/** Layout of a graph in layers from callers to callees, with connected nodes near each other */

export interface Edge {
  readonly from: string;
  readonly to: string;
}

export interface GridPosition {
  /** Column and row, from the top left */
  readonly column: number;
  readonly row: number;
}

export interface Layout {
  readonly positions: ReadonlyMap<string, GridPosition>;
  readonly columns: number;
  readonly rows: number;
}

/** Maximum number of nodes per column; larger layers use several columns */
const maxRows = 16;
const sweeps = 4;

type Adjacency = ReadonlyMap<string, readonly string[]>;

const toAdjacency = (edges: readonly Edge[], from: keyof Edge, to: keyof Edge): Adjacency => {
  const adjacency = new Map<string, string[]>();
  for (const edge of edges) {
    const neighbors = adjacency.get(edge[from]);
    if (neighbors === undefined) adjacency.set(edge[from], [edge[to]]);
    else neighbors.push(edge[to]);
  }
  return adjacency;
};

/**
 * Returns the edges without those that close a cycle. A loop, not recursion: chains have no length limit.
 */
const removeCycles = (nodes: readonly string[], next: Adjacency): readonly Edge[] => {
  const uniqueEdges: Edge[] = [];
  const state = new Map<string, 'open' | 'done'>();
  for (const root of nodes) {
    if (state.has(root)) continue;
    state.set(root, 'open');
    const stack = [{ node: root, at: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const to = next.get(top.node)?.[top.at++];
      if (to === undefined) {
        state.set(top.node, 'done');
        stack.pop();
      } else if (state.get(to) !== 'open') {
        uniqueEdges.push({ from: top.node, to });
        if (!state.has(to)) {
          state.set(to, 'open');
          stack.push({ node: to, at: 0 });
        }
      }
    }
  }
  return uniqueEdges;
};

/** Returns the length of the longest path to each node of an acyclic graph. */
const measureDepths = (nodes: readonly string[], edges: readonly Edge[]): ReadonlyMap<string, number> => {
  const next = toAdjacency(edges, 'from', 'to');
  const pendingEdges = new Map<string, number>();
  for (const { to } of edges) pendingEdges.set(to, (pendingEdges.get(to) ?? 0) + 1);
  const depths = new Map(nodes.map((node) => [node, 0]));
  const ready = nodes.filter((node) => !pendingEdges.has(node));
  for (let node = ready.pop(); node !== undefined; node = ready.pop())
    for (const to of next.get(node) ?? []) {
      depths.set(to, Math.max(depths.get(to) ?? 0, (depths.get(node) ?? 0) + 1));
      const remainingEdges = (pendingEdges.get(to) ?? 0) - 1;
      pendingEdges.set(to, remainingEdges);
      if (remainingEdges === 0) ready.push(to);
    }
  return depths;
};

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Orders the nodes of each layer in place, near their neighbors, in sweeps from left to right and back. */
const orderLayers = (layers: readonly string[][], edges: readonly Edge[]): void => {
  const [successors, predecessors] = [toAdjacency(edges, 'from', 'to'), toAdjacency(edges, 'to', 'from')];
  const heights = new Map<string, number>();
  const setHeights = (layer: readonly string[]): void => {
    for (const [index, node] of layer.entries()) heights.set(node, (index + 0.5) / layer.length);
  };
  for (const layer of layers) setHeights(layer);
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const isForward = sweep % 2 === 0;
    for (const layer of isForward ? layers : layers.toReversed()) {
      const targetHeights = new Map(
        layer.map((node) => {
          const neighbors = (isForward ? predecessors : successors).get(node) ?? [];
          return [
            node,
            neighbors.length === 0 ? (heights.get(node) ?? 0) : mean(neighbors.map((one) => heights.get(one) ?? 0)),
          ];
        }),
      );
      layer.sort((one, other) => (targetHeights.get(one) ?? 0) - (targetHeights.get(other) ?? 0));
      setHeights(layer);
    }
  }
};

/** Returns the positions of the nodes. The result is deterministic. Nodes without edges come last. */
export const layOutGraph = (nodes: readonly string[], edges: readonly Edge[]): Layout => {
  const nodeIds = new Set(nodes);
  const knownEdges = edges.filter(({ from, to }) => from !== to && nodeIds.has(from) && nodeIds.has(to));
  const connectedNodes = new Set(knownEdges.flatMap(({ from, to }) => [from, to]));
  const forward = removeCycles(nodes, toAdjacency(knownEdges, 'from', 'to'));
  const depths = measureDepths(nodes, forward);
  const byDepth = Map.groupBy(
    nodes.filter((node) => connectedNodes.has(node)),
    (node) => depths.get(node) ?? 0,
  );
  const layers = [...byDepth].sort(([one], [other]) => one - other).map(([, layer]) => layer);
  orderLayers(layers, knownEdges);
  const isolatedNodes = nodes.filter((node) => !connectedNodes.has(node));
  const columns = [...layers, isolatedNodes].flatMap((layer) =>
    Array.from({ length: Math.ceil(layer.length / maxRows) }, (_, part) =>
      layer.slice(part * maxRows, (part + 1) * maxRows),
    ),
  );
  const rows = columns.reduce((maxLength, column) => Math.max(maxLength, column.length), 0);
  const positions = new Map<string, GridPosition>();
  for (const [column, columnNodes] of columns.entries())
    for (const [index, node] of columnNodes.entries())
      positions.set(node, { column, row: index + (rows - columnNodes.length) / 2 });
  return { positions, columns: columns.length, rows };
};
