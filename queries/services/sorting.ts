/** Lists that are sorted by a name or by a figure, page by page. */
import type { Figures } from './figures.ts';

/** Figures that lists can be sorted by. */
export const figureSorts = ['requests', 'errors', 'errorRate', 'p50', 'p95', 'p99', 'apdex'] as const;
type FigureSort = (typeof figureSorts)[number];
export type Direction = 'ascending' | 'descending';

/** One of the figures; undefined where it is not known. */
export const figureOf = (
  { requests, errors, errorRate, duration, apdex }: Figures,
  sort: FigureSort,
): number | undefined => {
  switch (sort) {
    case 'requests':
      return requests;
    case 'errors':
      return errors;
    case 'errorRate':
      return typeof errorRate === 'number' ? errorRate : undefined;
    case 'apdex':
      return apdex.value ?? undefined;
    default:
      return 'p50' in duration ? duration[sort] : undefined;
  }
};

/** Where a thing stands in a sorted list. */
export interface Position {
  /** Different for each thing. */
  readonly name: string;
  /** What it is sorted by; null where that is not known. */
  readonly value: string | number | null;
}

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
export const pageOf = <Item>(
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
