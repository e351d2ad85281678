/** Merges time-ordered rows of several servers as if one server had returned them. */

export type RowOrder = 'newest' | 'oldest';

/** Position of a record in an order: by time, then by position on the bus. Positions are unique. */
export interface RowPlace {
  readonly time: string;
  readonly partition: string;
  readonly offset: string;
  readonly ordinal: string;
}

const parts = ['time', 'partition', 'offset', 'ordinal'] as const;

const compare = (one: RowPlace, other: RowPlace): number => {
  const part = parts.find((each) => one[each] !== other[each]);
  if (part === undefined) return 0;
  return BigInt(one[part]) < BigInt(other[part]) ? -1 : 1;
};

/** Merges the concatenated answers to a statement with order and limit (`QueryLimits.ofEachServer`). */
export const mergeServerRows = <Row>(
  rows: readonly Row[],
  { order, limit, placeOf }: { order: RowOrder; limit: number; placeOf: (row: Row) => RowPlace },
): readonly Row[] => {
  const way = order === 'newest' ? -1 : 1;
  return rows.toSorted((one, other) => way * compare(placeOf(one), placeOf(other))).slice(0, limit);
};
