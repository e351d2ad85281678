/** Interactive graph: nodes are buttons, with edges between them. Arrow keys move between nodes. */
import { useMemo, useRef, useState } from 'preact/hooks';
import { shownText } from '../frame/shown-text.tsx';
import { Scrolled } from '../lists/scrolled.tsx';
import { type Edge, layoutOf, type Place } from './graph-layout.ts';

export interface GraphNode {
  readonly id: string;
  readonly title: string;
  /** Text below the title; screen readers read both */
  readonly figures: string;
  /** Icon of the kind, if the node is not a service */
  readonly kind?: string;
  /** Share of failures, 0 to 1 */
  readonly failed?: number;
}

export interface GraphEdge extends Edge {
  readonly title: string;
  /** Stroke weight, 0 to 1 */
  readonly weight: number;
  readonly failed?: number;
}

const [width, height, gapX, gapY, edgeOf] = [208, 46, 72, 14, 12] as const;
/** Zoom levels */
const sizes = [0.5, 0.7, 1, 1.3] as const;
/** Minimum share of failures of an edge or node that is highlighted */
const minBadFailureRate = 0.01;

const xOf = ({ column }: Place): number => edgeOf + column * (width + gapX);
const yOf = ({ row }: Place): number => edgeOf + row * (height + gapY);

/** Returns a line from the right of one node to the left of the other; backward edges pass below both. */
const pathOf = (from: Place, to: Place): string => {
  const [x1, y1] = [xOf(from) + width, yOf(from) + height / 2];
  const [x2, y2] = [xOf(to), yOf(to) + height / 2];
  if (to.column > from.column) {
    const bend = (x2 - x1) / 2;
    return `M${x1},${y1}C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
  }
  const low = Math.max(y1, y2) + height;
  return `M${x1},${y1}C${x1 + gapX},${low} ${x2 - gapX},${low} ${x2},${y2}`;
};

const keys: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Returns the nearest node in a direction; lateral distance has a higher weight. */
const nearest = (
  places: ReadonlyMap<string, Place>,
  from: Place,
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

/** Number of edges above which each is faint and thin, to highlight nodes and failures */
const maxHighlighted = 150;

const isBad = (failed = 0): boolean => failed >= minBadFailureRate;

export const Graph = ({
  label,
  nodes,
  edges,
  open,
  onOpen,
}: {
  /** Description in a sentence */
  readonly label: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Id of the open node; unconnected parts are faint */
  readonly open?: string | undefined;
  readonly onOpen?: (id: string) => void;
}) => {
  const { places, columns, rows } = useMemo(
    () =>
      layoutOf(
        nodes.map(({ id }) => id),
        edges,
      ),
    [nodes, edges],
  );
  const [size, setSize] = useState(2);
  const [current, setCurrent] = useState(open ?? '');
  const place = useRef<HTMLDivElement>(null);
  const at = places.has(current) ? current : (nodes[0]?.id ?? '');
  const isOpen = open !== undefined && places.has(open);
  const isCrowded = edges.length > maxHighlighted;
  const near = new Set(edges.flatMap(({ from, to }) => (from === open || to === open ? [from, to] : [])));
  const isFaint = (...ids: readonly string[]): boolean => isOpen && !ids.every((id) => id === open || near.has(id));
  const move = (event: KeyboardEvent): void => {
    const direction = keys[event.key];
    const from = places.get(at);
    const to = direction && from && nearest(places, from, direction);
    if (direction === undefined) return;
    event.preventDefault();
    if (to === undefined) return;
    setCurrent(to);
    place.current?.querySelector<HTMLElement>(`[data-at="${nodes.findIndex(({ id }) => id === to)}"]`)?.focus();
  };
  const [all, tall] = [2 * edgeOf + columns * (width + gapX) - gapX, 2 * edgeOf + rows * (height + gapY) + height];
  return (
    <>
      <p class="act">
        <button type="button" class="plain" disabled={size === 0} onClick={() => setSize(size - 1)}>
          Zoom out
        </button>
        <button type="button" class="plain" disabled={size === sizes.length - 1} onClick={() => setSize(size + 1)}>
          Zoom in
        </button>
      </p>
      <Scrolled class="graph" label={label}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: its buttons take the keys */}
        <div ref={place} onKeyDown={move} style={{ width: `${all}px`, height: `${tall}px`, zoom: sizes[size] ?? 1 }}>
          <svg aria-hidden="true" class={isCrowded && !isOpen ? 'crowded' : ''} width={all} height={tall}>
            {edges.map((edge) => {
              const [from, to] = [places.get(edge.from), places.get(edge.to)];
              if (from === undefined || to === undefined || edge.from === edge.to) return null;
              const faint = isFaint(edge.from, edge.to) || (isOpen && edge.from !== open && edge.to !== open);
              return (
                <path
                  key={`${edge.from} ${edge.to} ${edge.title}`}
                  d={pathOf(from, to)}
                  class={`${isBad(edge.failed) ? 'failed' : ''}${faint ? ' faint' : ''}`}
                  style={{ strokeWidth: 1 + (isCrowded ? 1.5 : 4) * edge.weight }}
                >
                  <title>{edge.title}</title>
                </path>
              );
            })}
          </svg>
          {nodes.map(({ id, title, figures, kind, failed }, index) => {
            const where = places.get(id) ?? { column: 0, row: 0 };
            return (
              <button
                key={id}
                type="button"
                data-at={index}
                tabIndex={id === at ? 0 : -1}
                aria-pressed={onOpen === undefined ? undefined : id === open}
                class={`node${isBad(failed) ? ' failed' : ''}${isFaint(id) ? ' faint' : ''}`}
                style={{ left: `${xOf(where)}px`, top: `${yOf(where)}px`, width: `${width}px`, height: `${height}px` }}
                onFocus={() => setCurrent(id)}
                onClick={() => onOpen?.(id)}
              >
                <bdi>{shownText(title === '' ? '(empty)' : title)}</bdi>
                {kind === undefined ? null : <i>{shownText(kind)}</i>} <small>{shownText(figures)}</small>
              </button>
            );
          })}
        </div>
      </Scrolled>
    </>
  );
};
