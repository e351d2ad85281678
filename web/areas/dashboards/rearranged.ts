/** Positions on the grid of a dashboard, and how other panels move to make room for a moved panel */

/** Number of grid columns */
export const gridColumns = 24;

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const overlap = (one: Rectangle, other: Rectangle): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

/**
 * Returns positions by id after one of them moved: it stays, overlapped panels move down, and then all panels move up
 * as far as possible.
 */
export const rearrange = (
  rectangles: ReadonlyMap<string, Rectangle>,
  movedId: string,
  to: Rectangle,
): ReadonlyMap<string, Rectangle> => {
  const width = Math.max(1, Math.min(gridColumns, to.width));
  const x = Math.max(0, Math.min(gridColumns - width, to.x));
  const target = { x, width, y: Math.max(0, to.y), height: Math.max(2, to.height) };
  const others = [...rectangles]
    .filter(([id]) => id !== movedId)
    .sort(([, one], [, other]) => one.y - other.y || one.x - other.x);
  const placed: [string, Rectangle][] = [[movedId, target]];
  const isFree = (place: Rectangle): boolean => placed.every(([, other]) => !overlap(place, other));
  for (const [id, place] of others) {
    let y = place.y;
    while (!isFree({ ...place, y })) y++;
    placed.push([id, { ...place, y }]);
  }
  return compact(placed);
};

/** Moves each panel up to the panels above. */
const compact = (places: readonly (readonly [string, Rectangle])[]): ReadonlyMap<string, Rectangle> => {
  const placed: [string, Rectangle][] = [];
  for (const [id, place] of [...places].sort(([, one], [, other]) => one.y - other.y || one.x - other.x)) {
    let { y } = place;
    while (y > 0 && placed.every(([, other]) => !overlap({ ...place, y: y - 1 }, other))) y--;
    placed.push([id, { ...place, y }]);
  }
  return new Map(placed);
};
