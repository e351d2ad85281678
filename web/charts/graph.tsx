/** Interactive graph: nodes are buttons that edges connect. Arrow keys move between nodes. */
import { useMemo, useRef, useState } from 'preact/hooks';
import { renderText } from '../frame/display-text.tsx';
import { ScrollRegion } from '../lists/scroll-region.tsx';
import { type Edge, type GridPosition, layOutGraph } from './graph-layout.ts';

export interface GraphNode {
  readonly id: string;
  readonly title: string;
  /** Text below the title; screen readers read both */
  readonly description: string;
  /** Icon of the kind, if the node is not a service */
  readonly kind?: string;
  /** Share of failures, 0 to 1 */
  readonly failureRate?: number;
  /** Parts of the whole that a bar of the node shows, such as successes and failures */
  readonly shares?: readonly GraphShare[];
}

export interface GraphShare {
  readonly name: string;
  /** 0 to 1 */
  readonly share: number;
  /** CSS class that sets the color */
  readonly colorClass: string;
}

export interface GraphEdge extends Edge {
  readonly title: string;
  /** Stroke weight, 0 to 1 */
  readonly weight: number;
  readonly failureRate?: number;
}

const [width, height, gapX, gapY, padding] = [208, 46, 72, 14, 12] as const;
/** Zoom levels */
const zoomLevels = [0.5, 0.7, 1, 1.3] as const;
/** Minimum failure rate from which an edge or node is highlighted */
const minHighlightedRate = 0.01;

const toX = ({ column }: GridPosition): number => padding + column * (width + gapX);
const toY = ({ row }: GridPosition): number => padding + row * (height + gapY);

/** Returns a path from the right side of one node to the left side of another. Backward edges pass below both. */
const toPath = (from: GridPosition, to: GridPosition): string => {
  const [x1, y1] = [toX(from) + width, toY(from) + height / 2];
  const [x2, y2] = [toX(to), toY(to) + height / 2];
  if (to.column > from.column) {
    const bend = (x2 - x1) / 2;
    return `M${x1},${y1}C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
  }
  const low = Math.max(y1, y2) + height;
  return `M${x1},${y1}C${x1 + gapX},${low} ${x2 - gapX},${low} ${x2},${y2}`;
};

const directions: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Returns the nearest node in a direction. Lateral distance has a higher weight. */
const findNearest = (
  places: ReadonlyMap<string, GridPosition>,
  from: GridPosition,
  [x, y]: readonly [number, number],
): string | undefined => {
  let best: readonly [id: string, distance: number] | undefined;
  for (const [id, { column, row }] of places) {
    const [dx, dy] = [column - from.column, row - from.row];
    const along = dx * x + dy * y;
    if (along <= 0) continue;
    const distance = along + 3 * Math.abs(dx * y + dy * x);
    if (best === undefined || distance < best[1]) best = [id, distance];
  }
  return best?.[0];
};

const sharePercent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

const NodeShares = ({ shares }: { readonly shares: readonly GraphShare[] }) =>
  shares.length === 0 ? null : (
    <span class="node-shares">
      {shares.map(({ name, share, colorClass }) => (
        <span key={name} class={colorClass} style={{ width: `${100 * share}%` }}>
          <span class="sr-only">
            {renderText(name)} {sharePercent.format(share)}
          </span>
        </span>
      ))}
    </span>
  );

/** Maximum number of edges with full contrast and width; with more, edges recede behind nodes and failures */
const maxThickEdges = 150;

const hasHighFailureRate = (failed = 0): boolean => failed >= minHighlightedRate;

export const Graph = ({
  label,
  nodes,
  edges,
  openId,
  onOpen,
}: {
  /** Description for screen readers, as a sentence */
  readonly label: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** id of the open node; nodes and edges that are not connected to it are faint */
  readonly openId?: string | undefined;
  readonly onOpen?: (id: string) => void;
}) => {
  const { positions, columns, rows } = useMemo(
    () =>
      layOutGraph(
        nodes.map(({ id }) => id),
        edges,
      ),
    [nodes, edges],
  );
  const [zoomIndex, setZoomIndex] = useState(2);
  const [current, setCurrent] = useState(openId ?? '');
  const container = useRef<HTMLDivElement>(null);
  const focusedId = positions.has(current) ? current : (nodes[0]?.id ?? '');
  const isOpen = openId !== undefined && positions.has(openId);
  const isCrowded = edges.length > maxThickEdges;
  const neighbors = new Set(edges.flatMap(({ from, to }) => (from === openId || to === openId ? [from, to] : [])));
  const isFaint = (...ids: readonly string[]): boolean =>
    isOpen && !ids.every((id) => id === openId || neighbors.has(id));
  const moveFocus = (event: KeyboardEvent): void => {
    const direction = directions[event.key];
    const from = positions.get(focusedId);
    const to = direction && from && findNearest(positions, from, direction);
    if (direction === undefined) return;
    event.preventDefault();
    if (to === undefined) return;
    setCurrent(to);
    container.current?.querySelector<HTMLElement>(`[data-at="${nodes.findIndex(({ id }) => id === to)}"]`)?.focus();
  };
  const [graphWidth, graphHeight] = [
    2 * padding + columns * (width + gapX) - gapX,
    2 * padding + rows * (height + gapY) + height,
  ];
  return (
    <>
      <p class="act">
        <button type="button" class="plain" disabled={zoomIndex === 0} onClick={() => setZoomIndex(zoomIndex - 1)}>
          Zoom out
        </button>
        <button
          type="button"
          class="plain"
          disabled={zoomIndex === zoomLevels.length - 1}
          onClick={() => setZoomIndex(zoomIndex + 1)}
        >
          Zoom in
        </button>
      </p>
      <ScrollRegion class="graph" label={label}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the buttons inside receive the keys */}
        <div
          ref={container}
          onKeyDown={moveFocus}
          style={{ width: `${graphWidth}px`, height: `${graphHeight}px`, zoom: zoomLevels[zoomIndex] ?? 1 }}
        >
          <svg aria-hidden="true" class={isCrowded && !isOpen ? 'crowded' : ''} width={graphWidth} height={graphHeight}>
            {edges.map((edge) => {
              const [from, to] = [positions.get(edge.from), positions.get(edge.to)];
              if (from === undefined || to === undefined || edge.from === edge.to) return null;
              const faint = isFaint(edge.from, edge.to) || (isOpen && edge.from !== openId && edge.to !== openId);
              return (
                <path
                  key={`${edge.from} ${edge.to} ${edge.title}`}
                  d={toPath(from, to)}
                  class={`${hasHighFailureRate(edge.failureRate) ? 'failed' : ''}${faint ? ' faint' : ''}`}
                  style={{ strokeWidth: 1 + (isCrowded ? 1.5 : 4) * edge.weight }}
                >
                  <title>{edge.title}</title>
                </path>
              );
            })}
          </svg>
          {nodes.map(({ id, title, description, kind, failureRate, shares = [] }, index) => {
            const position = positions.get(id) ?? { column: 0, row: 0 };
            return (
              <button
                key={id}
                type="button"
                data-at={index}
                tabIndex={id === focusedId ? 0 : -1}
                aria-pressed={onOpen === undefined ? undefined : id === openId}
                class={`node${hasHighFailureRate(failureRate) ? ' failed' : ''}${isFaint(id) ? ' faint' : ''}`}
                style={{
                  left: `${toX(position)}px`,
                  top: `${toY(position)}px`,
                  width: `${width}px`,
                  height: `${height}px`,
                }}
                onFocus={() => setCurrent(id)}
                onClick={() => onOpen?.(id)}
              >
                <bdi>{renderText(title === '' ? '(empty)' : title)}</bdi>
                {kind === undefined ? null : <i>{renderText(kind)}</i>} <small>{renderText(description)}</small>
                <NodeShares shares={shares} />
              </button>
            );
          })}
        </div>
      </ScrollRegion>
    </>
  );
};
