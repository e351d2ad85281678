/** Selection of a range of steps in a chart with the pointer */
import { useState } from 'preact/hooks';

/** Returns the step at the pointer. */
export const stepAt = (event: PointerEvent, count: number): number => {
  const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
  return Math.max(0, Math.min(count - 1, Math.floor(((event.clientX - left) / width) * count)));
};

/** Returns the selection during dragging, and the event handlers of the chart. */
export const useDrag = (count: number, onChosen: (first: number, last: number) => void) => {
  const [drag, setDrag] = useState<readonly [from: number, to: number]>();
  const chosen = drag === undefined ? undefined : { first: Math.min(...drag), last: Math.max(...drag) };
  return {
    chosen,
    dragHandlers: {
      onPointerDown(event: PointerEvent): void {
        (event.currentTarget as Element).setPointerCapture(event.pointerId);
        const at = stepAt(event, count);
        setDrag([at, at]);
      },
      onPointerMove(event: PointerEvent): void {
        if (drag !== undefined) setDrag([drag[0], stepAt(event, count)]);
      },
      onPointerUp(): void {
        setDrag(undefined);
        if (chosen !== undefined) onChosen(chosen.first, chosen.last);
      },
      onPointerCancel: (): void => setDrag(undefined),
    },
  };
};
