/** Positions on the grid of a dashboard, and how other panels move to make room for a moved panel */

/** Number of grid columns */
export const gridColumns = 24;

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const doOverlap = (left: Rectangle, right: Rectangle): boolean =>
  left.x < right.x + right.width &&
  right.x < left.x + left.width &&
  left.y < right.y + right.height &&
  right.y < left.y + left.height;

/**
 * Returns positions by id after one of them moved: it stays, overlapped panels move down, and then all panels move up
 * as far as possible.
 */
export const rearrange = (
  rectangles: ReadonlyMap<string, Rectangle>,
  movedId: string,
  targetRectangle: Rectangle,
): ReadonlyMap<string, Rectangle> => {
  const width = Math.max(1, Math.min(gridColumns, targetRectangle.width));
  const x = Math.max(0, Math.min(gridColumns - width, targetRectangle.x));
  const target = { x, width, y: Math.max(0, targetRectangle.y), height: Math.max(2, targetRectangle.height) };
  const otherRectangles = [...rectangles]
    .filter(([id]) => id !== movedId)
    .sort(([, left], [, right]) => left.y - right.y || left.x - right.x);
  const placedRectangles: [string, Rectangle][] = [[movedId, target]];
  const isFree = (rectangle: Rectangle): boolean =>
    placedRectangles.every(([, placedRectangle]) => !doOverlap(rectangle, placedRectangle));
  for (const [id, rectangle] of otherRectangles) {
    let y = rectangle.y;
    while (!isFree({ ...rectangle, y })) y++;
    placedRectangles.push([id, { ...rectangle, y }]);
  }
  return compact(placedRectangles);
};

/** Moves each panel up to the panels above. */
const compact = (rectanglesById: readonly (readonly [string, Rectangle])[]): ReadonlyMap<string, Rectangle> => {
  const placedRectangles: [string, Rectangle][] = [];
  for (const [id, rectangle] of [...rectanglesById].sort(
    ([, left], [, right]) => left.y - right.y || left.x - right.x,
  )) {
    let { y } = rectangle;
    while (
      y > 0 &&
      placedRectangles.every(([, placedRectangle]) => !doOverlap({ ...rectangle, y: y - 1 }, placedRectangle))
    )
      y--;
    placedRectangles.push([id, { ...rectangle, y }]);
  }
  return new Map(placedRectangles);
};
