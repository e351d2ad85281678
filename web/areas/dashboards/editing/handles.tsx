/** Handles to move and resize a panel with the pointer or arrow keys */
import { Move, MoveDiagonal2, Pencil } from 'lucide';
import { useRef } from 'preact/hooks';
import { Icon, type IconShape } from '../../../components/icon.tsx';
import { gapPixels, rowHeightPixels } from '../card.tsx';
import type { Cell } from '../layout.ts';
import { gridColumns, type Rectangle } from '../rearrange.ts';
import type { DashboardDraft } from './draft.ts';

/** Returns the rectangle after a move or resize by a number of columns and rows */
type MoveOrResize = (rectangle: Rectangle, columns: number, rows: number) => Rectangle;

const move: MoveOrResize = (rectangle, columns, rows) => ({
  ...rectangle,
  x: rectangle.x + columns,
  y: rectangle.y + rows,
});
const resize: MoveOrResize = (rectangle, columns, rows) => ({
  ...rectangle,
  width: Math.min(gridColumns - rectangle.x, Math.max(1, rectangle.width + columns)),
  height: Math.max(2, rectangle.height + rows),
});

const arrowSteps: Readonly<Record<string, readonly [columns: number, rows: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

const Handle = ({
  label,
  icon,
  rectangle,
  moveOrResize,
  onPlace,
}: {
  readonly label: string;
  readonly icon: IconShape;
  readonly rectangle: Rectangle;
  readonly moveOrResize: MoveOrResize;
  readonly onPlace: (place: Rectangle) => void;
}) => {
  const dragStart = useRef<
    | {
        readonly x: number;
        readonly y: number;
        readonly place: Rectangle;
        readonly columnWidth: number;
      }
    | undefined
  >(undefined);
  const toRectangle = (event: PointerEvent): Rectangle | undefined => {
    if (dragStart.current === undefined) return undefined;
    const { x, y, place: startRectangle, columnWidth } = dragStart.current;
    const columns = Math.round((event.clientX - x) / columnWidth);
    return moveOrResize(startRectangle, columns, Math.round((event.clientY - y) / (rowHeightPixels + gapPixels)));
  };
  return (
    <button
      type="button"
      class="button icon-only quiet handle"
      aria-label={`${label}, with the arrow keys`}
      data-tooltip="Drag, or use the arrow keys"
      onPointerDown={(event) => {
        const grid = event.currentTarget.closest('.panels');
        if (grid === null) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        dragStart.current = {
          x: event.clientX,
          y: event.clientY,
          place: rectangle,
          columnWidth: grid.clientWidth / gridColumns,
        };
      }}
      onPointerMove={(event) => {
        const rectangle = toRectangle(event);
        if (rectangle !== undefined) onPlace(rectangle);
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
        onPlace(moveOrResize(rectangle, ...step));
      }}
    >
      <Icon shape={icon} />
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
  const onPlace = (rectangle: Rectangle): void => drafting.movePanel(id, rectangle);
  const name = title === '' ? id : title;
  return (
    <span class="handles">
      <button
        type="button"
        class="button icon-only quiet"
        data-panel={id}
        data-tooltip="Edit"
        aria-label={`Edit ${name}`}
        onClick={onOpen}
      >
        <Icon shape={Pencil} />
      </button>
      <Handle label={`Move ${name}`} icon={Move} moveOrResize={move} rectangle={place} onPlace={onPlace} />
      <Handle label={`Resize ${name}`} icon={MoveDiagonal2} moveOrResize={resize} rectangle={place} onPlace={onPlace} />
    </span>
  );
};
