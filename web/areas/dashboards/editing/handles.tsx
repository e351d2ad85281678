/** Handles to move and resize a panel with the pointer or arrow keys */
import { useRef } from 'preact/hooks';
import { gapPixels, rowPixels } from '../card.tsx';
import type { Cell } from '../layout.ts';
import { gridColumns, type Rectangle } from '../rearranged.ts';
import type { Drafting } from './draft.ts';

/** Effect of a step on a position */
type Change = (place: Rectangle, columns: number, rows: number) => Rectangle;

const moved: Change = (place, columns, rows) => ({ ...place, x: place.x + columns, y: place.y + rows });
const resized: Change = (place, columns, rows) => ({
  ...place,
  width: Math.min(gridColumns - place.x, Math.max(1, place.width + columns)),
  height: Math.max(2, place.height + rows),
});

const arrows: Readonly<Record<string, readonly [columns: number, rows: number]>> = {
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
  readonly change: Change;
  readonly onPlace: (place: Rectangle) => void;
}) => {
  const began = useRef<
    | {
        readonly x: number;
        readonly y: number;
        readonly place: Rectangle;
        readonly column: number;
      }
    | undefined
  >(undefined);
  const placeAt = (event: PointerEvent): Rectangle | undefined => {
    if (began.current === undefined) return undefined;
    const { x, y, place: from, column } = began.current;
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
        began.current = { x: event.clientX, y: event.clientY, place, column: grid.clientWidth / gridColumns };
      }}
      onPointerMove={(event) => {
        const to = placeAt(event);
        if (to !== undefined) onPlace(to);
      }}
      onPointerUp={() => {
        began.current = undefined;
      }}
      onPointerCancel={() => {
        began.current = undefined;
      }}
      onKeyDown={(event) => {
        const step = arrows[event.key];
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
  readonly drafting: Drafting;
  readonly onOpen: () => void;
}) => {
  const { id, title, place } = cell.panel;
  const onPlace = (to: Rectangle): void => drafting.place(id, to);
  const name = title === '' ? id : title;
  return (
    <span class="handles">
      <button type="button" class="plain" aria-label={`Edit ${name}`} onClick={onOpen}>
        Edit
      </button>
      <Handle label={`Move ${name}`} text="✥" change={moved} place={place} onPlace={onPlace} />
      <Handle label={`Resize ${name}`} text="⇲" change={resized} place={place} onPlace={onPlace} />
    </span>
  );
};
