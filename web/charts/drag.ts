/** Selects a range of steps in a chart with the pointer */
import { useState } from 'preact/hooks';

/** Returns the index of the step under the pointer. */
export const findStep = (event: PointerEvent, count: number): number => {
  const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
  return Math.max(0, Math.min(count - 1, Math.floor(((event.clientX - left) / width) * count)));
};

/** Returns the current selection and the event handlers for the chart. */
export const useDrag = (count: number, onSelect: (first: number, last: number) => void) => {
  const [drag, setDrag] = useState<readonly [from: number, to: number]>();
  const selection = drag === undefined ? undefined : { first: Math.min(...drag), last: Math.max(...drag) };
  return {
    selection,
    dragHandlers: {
      onPointerDown(event: PointerEvent): void {
        (event.currentTarget as Element).setPointerCapture(event.pointerId);
        const step = findStep(event, count);
        setDrag([step, step]);
      },
      onPointerMove(event: PointerEvent): void {
        if (drag !== undefined) setDrag([drag[0], findStep(event, count)]);
      },
      onPointerUp(): void {
        setDrag(undefined);
        if (selection !== undefined) onSelect(selection.first, selection.last);
      },
      onPointerCancel: (): void => setDrag(undefined),
    },
  };
};
