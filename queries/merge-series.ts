/** Rows in the order of their time that several servers gave, each its own, as one server would give them. */

export type RowOrder = 'newest' | 'oldest';

/** Where a record stands in an order: by time, then by place on the bus. No two have one place. */
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

/** Answers to a statement that has the order and the limit, one after the other (`QueryLimits.ofEachServer`). */
export const asOfOne = <Row>(
  rows: readonly Row[],
  { order, limit, placeOf }: { order: RowOrder; limit: number; placeOf: (row: Row) => RowPlace },
): readonly Row[] => {
  const way = order === 'newest' ? -1 : 1;
  return rows.toSorted((one, other) => way * compare(placeOf(one), placeOf(other))).slice(0, limit);
};
