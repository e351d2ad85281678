/** Handles to move and resize a panel with the pointer or arrow keys */
import { useRef } from 'preact/hooks';
import { gapPixels, rowPixels } from '../card.tsx';
import type { Cell } from '../layout.ts';
import { gridColumns, type Rectangle } from '../rearranged.ts';
import type { DashboardDraft } from './draft.ts';

/** Returns the rectangle after a move or resize by a number of columns and rows */
type MoveOrResize = (place: Rectangle, columns: number, rows: number) => Rectangle;

const move: MoveOrResize = (place, columns, rows) => ({ ...place, x: place.x + columns, y: place.y + rows });
const resize: MoveOrResize = (place, columns, rows) => ({
  ...place,
  width: Math.min(gridColumns - place.x, Math.max(1, place.width + columns)),
  height: Math.max(2, place.height + rows),
});

const arrowSteps: Readonly<Record<string, readonly [columns: number, rows: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

const Handle = ({
  label,
  text,
  place,
  change,
  onPlace,
}: {
  readonly label: string;
  readonly text: string;
  readonly place: Rectangle;
  readonly change: MoveOrResize;
  readonly onPlace: (place: Rectangle) => void;
}) => {
  const dragStart = useRef<
    | {
        readonly x: number;
        readonly y: number;
        readonly place: Rectangle;
        readonly column: number;
      }
    | undefined
  >(undefined);
  const rectangleAt = (event: PointerEvent): Rectangle | undefined => {
    if (dragStart.current === undefined) return undefined;
    const { x, y, place: from, column } = dragStart.current;
    const columns = Math.round((event.clientX - x) / column);
    return change(from, columns, Math.round((event.clientY - y) / (rowPixels + gapPixels)));
  };
  return (
    <button
      type="button"
      class="plain handle"
      aria-label={`${label}, with the arrow keys`}
      title={`${label}: drag, or use the arrow keys`}
      onPointerDown={(event) => {
        const grid = event.currentTarget.closest('.panels');
        if (grid === null) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        dragStart.current = { x: event.clientX, y: event.clientY, place, column: grid.clientWidth / gridColumns };
      }}
      onPointerMove={(event) => {
        const to = rectangleAt(event);
        if (to !== undefined) onPlace(to);
      }}
      onPointerUp={() => {
        dragStart.current = undefined;
      }}
      onPointerCancel={() => {
        dragStart.current = undefined;
      }}
      onKeyDown={(event) => {
        const step = arrowSteps[event.key];
        if (step === undefined) return;
        event.preventDefault();
        onPlace(change(place, ...step));
      }}
    >
      {text}
    </button>
  );
};

export const Handles = ({
  cell,
  drafting,
  onOpen,
}: {
  readonly cell: Cell;
  readonly drafting: DashboardDraft;
  readonly onOpen: () => void;
}) => {
  const { id, title, place } = cell.panel;
  const onPlace = (to: Rectangle): void => drafting.placePanel(id, to);
  const name = title === '' ? id : title;
  return (
    <span class="handles">
      <button type="button" class="plain" aria-label={`Edit ${name}`} onClick={onOpen}>
        Edit
      </button>
      <Handle label={`Move ${name}`} text="✥" change={move} place={place} onPlace={onPlace} />
      <Handle label={`Resize ${name}`} text="⇲" change={resize} place={place} onPlace={onPlace} />
    </span>
  );
};
