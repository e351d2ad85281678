/** Heights of the bars of a bar chart */
import { toNumberOrUndefined } from '../../../charts/reduce.ts';

export type Stacking = 'none' | 'normal' | 'percent';

export interface BarGroups {
  /** Share of the full height of each value, by row and column */
  readonly shares: readonly (readonly number[])[];
  /** Value of the full height */
  readonly maxValue: number;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Returns the heights of the bars of each row. Values below zero have no height. */
export const computeBarGroups = (
  columns: readonly (readonly unknown[])[],
  { rowCount, stacking }: { readonly rowCount: number; readonly stacking: Stacking },
): BarGroups => {
  const rows = Array.from({ length: rowCount }, (_, row) =>
    columns.map((values) => Math.max(0, toNumberOrUndefined(values[row]) ?? 0)),
  );
  if (stacking === 'percent')
    return { maxValue: 100, shares: rows.map((values) => values.map((value) => value / (sum(values) || 1))) };
  const heights = stacking === 'normal' ? rows.map(sum) : rows.flat();
  const maxValue = heights.reduce((highest, height) => Math.max(highest, height), 0) || 1;
  return { maxValue, shares: rows.map((values) => values.map((value) => value / maxValue)) };
};
