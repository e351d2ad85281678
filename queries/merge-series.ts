/** Merges time-ordered rows of several servers as if one server had returned them. */

export type RowOrder = 'newest' | 'oldest';

/** Position of a record in an order: by time, then by position on the bus. Positions are unique. */
export interface RowPosition {
  readonly time: string;
  readonly partition: string;
  readonly offset: string;
  readonly ordinal: string;
}

const positionParts = ['time', 'partition', 'offset', 'ordinal'] as const;

const comparePositions = (one: RowPosition, other: RowPosition): number => {
  const part = positionParts.find((each) => one[each] !== other[each]);
  if (part === undefined) return 0;
  return BigInt(one[part]) < BigInt(other[part]) ? -1 : 1;
};

/**
 * Merges the concatenated results of a statement with order and limit that ran on each server
 * (`QueryLimits.onEachServer`).
 */
export const mergeServerRows = <Row>(
  rows: readonly Row[],
  { order, limit, getPosition }: { order: RowOrder; limit: number; getPosition: (row: Row) => RowPosition },
): readonly Row[] => {
  const sign = order === 'newest' ? -1 : 1;
  return rows.toSorted((one, other) => sign * comparePositions(getPosition(one), getPosition(other))).slice(0, limit);
};
