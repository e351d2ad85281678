/** Lists that are sorted by a name or by a figure after all of it was read, page by page. */
import { z } from 'zod';
import { jsonIn, jsonPart } from './cursor.ts';
import type { Direction } from './sort.ts';

/** Where a thing stands in a sorted list: a name that each has for itself, and what it is sorted by, null where that is not known. */
const Position = z.strictObject({ name: z.string(), value: z.union([z.string(), z.number(), z.null()]) });
export type Position = Readonly<z.output<typeof Position>>;

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Compares positions: what is not known comes last either way, and names decide between equals. */
const comparePositions =
  (direction: Direction) =>
  (one: Position, other: Position): number => {
    if (one.value === other.value) return compareTexts(one.name, other.name);
    if (one.value === null) return 1;
    if (other.value === null) return -1;
    return one.value < other.value === (direction === 'ascending') ? -1 : 1;
  };

/** A page in the order that is asked for, behind a position of the same order. `last` is where the next one begins, if there is one. */
export const sortedPage = <Item>(
  items: readonly Item[],
  {
    nameOf,
    sortedBy,
    direction,
  }: {
    readonly nameOf: (item: Item) => string;
    readonly sortedBy: (item: Item) => string | number | undefined;
    readonly direction: Direction;
  },
  { limit, after }: { readonly limit: number; readonly after?: Position | undefined },
): { readonly shown: readonly Item[]; readonly last: Position | undefined } => {
  const compare = comparePositions(direction);
  const placed = items
    .map((item) => ({ item, position: { name: nameOf(item), value: sortedBy(item) ?? null } }))
    .filter(({ position }) => after === undefined || compare(position, after) > 0)
    .sort((one, other) => compare(one.position, other.position));
  const shown = placed.slice(0, limit);
  return { shown: shown.map(({ item }) => item), last: placed.length > limit ? shown.at(-1)?.position : undefined };
};

/** A position as one part of a cursor, and back. */
export const positionPart = (position: Position): string => jsonPart(position);
export const positionIn = (part: string): Position => jsonIn(Position, part);
