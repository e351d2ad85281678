/** Layout of a graph: in layers from callers to called nodes, with connected nodes near each other */

export interface Edge {
  readonly from: string;
  readonly to: string;
}

export interface Place {
  /** Column and row, from the top left */
  readonly column: number;
  readonly row: number;
}

export interface Layout {
  readonly places: ReadonlyMap<string, Place>;
  readonly columns: number;
  readonly rows: number;
}

/** Maximum number of nodes per column; larger layers use several columns */
const maxRows = 16;
const sweeps = 4;

type Ways = ReadonlyMap<string, readonly string[]>;

const waysOf = (edges: readonly Edge[], from: keyof Edge, to: keyof Edge): Ways => {
  const ways = new Map<string, string[]>();
  for (const edge of edges) {
    const known = ways.get(edge[from]);
    if (known === undefined) ways.set(edge[from], [edge[to]]);
    else known.push(edge[to]);
  }
  return ways;
};

/**
 * Returns edges without those that close a cycle. Visits nodes without recursion, because chains have no length limit.
 */
const withoutCircles = (nodes: readonly string[], next: Ways): readonly Edge[] => {
  const uniqueEdges: Edge[] = [];
  const state = new Map<string, 'open' | 'done'>();
  for (const root of nodes) {
    if (state.has(root)) continue;
    state.set(root, 'open');
    const open = [{ node: root, at: 0 }];
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const to = next.get(top.node)?.[top.at++];
      if (to === undefined) {
        state.set(top.node, 'done');
        open.pop();
      } else if (state.get(to) !== 'open') {
        uniqueEdges.push({ from: top.node, to });
        if (!state.has(to)) {
          state.set(to, 'open');
          open.push({ node: to, at: 0 });
        }
      }
    }
  }
  return uniqueEdges;
};

/** Returns the length of the longest path to each node. */
const depthsOf = (nodes: readonly string[], edges: readonly Edge[]): ReadonlyMap<string, number> => {
  const next = waysOf(edges, 'from', 'to');
  const waits = new Map<string, number>();
  for (const { to } of edges) waits.set(to, (waits.get(to) ?? 0) + 1);
  const depths = new Map(nodes.map((node) => [node, 0]));
  const ready = nodes.filter((node) => !waits.has(node));
  for (let node = ready.pop(); node !== undefined; node = ready.pop())
    for (const to of next.get(node) ?? []) {
      depths.set(to, Math.max(depths.get(to) ?? 0, (depths.get(node) ?? 0) + 1));
      const left = (waits.get(to) ?? 0) - 1;
      waits.set(to, left);
      if (left === 0) ready.push(to);
    }
  return depths;
};

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Orders the nodes of each layer near their neighbors, from left to right and back. */
const ordered = (layers: readonly string[][], edges: readonly Edge[]): void => {
  const [next, before] = [waysOf(edges, 'from', 'to'), waysOf(edges, 'to', 'from')];
  const heights = new Map<string, number>();
  const settle = (layer: readonly string[]): void => {
    for (const [index, node] of layer.entries()) heights.set(node, (index + 0.5) / layer.length);
  };
  for (const layer of layers) settle(layer);
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const isForth = sweep % 2 === 0;
    for (const layer of isForth ? layers : layers.toReversed()) {
      const targetHeights = new Map(
        layer.map((node) => {
          const joined = (isForth ? before : next).get(node) ?? [];
          return [
            node,
            joined.length === 0 ? (heights.get(node) ?? 0) : mean(joined.map((one) => heights.get(one) ?? 0)),
          ];
        }),
      );
      layer.sort((one, other) => (targetHeights.get(one) ?? 0) - (targetHeights.get(other) ?? 0));
      settle(layer);
    }
  }
};

/** Returns the positions of nodes. The result is deterministic; nodes without edges are last. */
export const layoutOf = (nodes: readonly string[], edges: readonly Edge[]): Layout => {
  const known = new Set(nodes);
  const own = edges.filter(({ from, to }) => from !== to && known.has(from) && known.has(to));
  const joined = new Set(own.flatMap(({ from, to }) => [from, to]));
  const forward = withoutCircles(nodes, waysOf(own, 'from', 'to'));
  const depths = depthsOf(nodes, forward);
  const byDepth = Map.groupBy(
    nodes.filter((node) => joined.has(node)),
    (node) => depths.get(node) ?? 0,
  );
  const layers = [...byDepth].sort(([one], [other]) => one - other).map(([, layer]) => layer);
  ordered(layers, own);
  const alone = nodes.filter((node) => !joined.has(node));
  const columns = [...layers, alone].flatMap((layer) =>
    Array.from({ length: Math.ceil(layer.length / maxRows) }, (_, part) =>
      layer.slice(part * maxRows, (part + 1) * maxRows),
    ),
  );
  const rows = columns.reduce((maxLength, column) => Math.max(maxLength, column.length), 0);
  const places = new Map<string, Place>();
  for (const [column, inIt] of columns.entries())
    for (const [index, node] of inIt.entries()) places.set(node, { column, row: index + (rows - inIt.length) / 2 });
  return { places, columns: columns.length, rows };
};
