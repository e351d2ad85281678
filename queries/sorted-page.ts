/** Pages of lists that are sorted by a name or a value after everything was read. */
import { z } from 'zod';
import { decodeJson, encodeJson } from './cursor.ts';
import type { Direction } from './sort.ts';

/** Position in a sorted list: a unique name, and the sort value, null if unknown. */
const Position = z.strictObject({ name: z.string(), value: z.union([z.string(), z.number(), z.null()]) });
export type Position = Readonly<z.output<typeof Position>>;

const compareTexts = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** Compares positions: unknown values are last in either direction, and names break ties. */
const comparePositions =
  (direction: Direction) =>
  (left: Position, right: Position): number => {
    if (left.value === right.value) return compareTexts(left.name, right.name);
    if (left.value === null) return 1;
    if (right.value === null) return -1;
    return left.value < right.value === (direction === 'ascending') ? -1 : 1;
  };

interface SortOrder<Item> {
  readonly getName: (item: Item) => string;
  readonly getSortValue: (item: Item) => string | number | undefined;
  readonly direction: Direction;
}

interface PageOptions {
  readonly limit: number;
  readonly after?: Position | undefined;
}

interface SortedPage<Item> {
  readonly pageItems: readonly Item[];
  /** Position after which the next page begins, if there is one */
  readonly last: Position | undefined;
}

/** Returns a page of items that have the order already, after a position of the same order. */
export const getPageOfSorted = <Item>(
  items: readonly Item[],
  { getName, getSortValue, direction }: SortOrder<Item>,
  { limit, after }: PageOptions,
): SortedPage<Item> => {
  const compare = comparePositions(direction);
  const toPosition = (item: Item): Position => ({ name: getName(item), value: getSortValue(item) ?? null });
  const firstIndex = after === undefined ? 0 : items.findIndex((item) => compare(toPosition(item), after) > 0);
  const start = firstIndex < 0 ? items.length : firstIndex;
  const pageItems = items.slice(start, start + limit);
  const lastItem = pageItems.at(-1);
  const hasNext = items.length > start + limit && lastItem !== undefined;
  return { pageItems, last: hasNext ? toPosition(lastItem) : undefined };
};

/** Returns a page in the requested order, after a position of the same order. */
export const getSortedPage = <Item>(
  items: readonly Item[],
  { getName, getSortValue, direction }: SortOrder<Item>,
  { limit, after }: PageOptions,
): SortedPage<Item> => {
  const compare = comparePositions(direction);
  const positionedItems = items
    .map((item) => ({ item, position: { name: getName(item), value: getSortValue(item) ?? null } }))
    .filter(({ position }) => after === undefined || compare(position, after) > 0)
    .sort((left, right) => compare(left.position, right.position));
  const pageEntries = positionedItems.slice(0, limit);
  return {
    pageItems: pageEntries.map(({ item }) => item),
    last: positionedItems.length > limit ? pageEntries.at(-1)?.position : undefined,
  };
};

/** Encodes a position as one part of a cursor. */
export const encodePosition = (position: Position): string => encodeJson(position);
export const decodePosition = (part: string): Position => decodeJson(Position, part);
