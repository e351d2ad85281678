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

const comparePositions = (left: RowPosition, right: RowPosition): number => {
  const part = positionParts.find((positionPart) => left[positionPart] !== right[positionPart]);
  if (part === undefined) return 0;
  return BigInt(left[part]) < BigInt(right[part]) ? -1 : 1;
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
  return rows.toSorted((left, right) => sign * comparePositions(getPosition(left), getPosition(right))).slice(0, limit);
};
