/** Which steps of a chart are complete, and which of its series its legend and tooltip show */
import { reduceComplete } from './reduce.ts';

export interface LegendSettings {
  readonly place: 'bottom' | 'right';
  readonly form: 'list' | 'table';
  /** Reducers of the values of a table, or of those behind the names of a list */
  readonly values: readonly string[];
  /** Reducer by which the series are sorted; otherwise they are in the order of the result */
  readonly sortBy?: string | null | undefined;
  readonly descending?: boolean | undefined;
}

export interface TooltipSettings {
  /** The series next to the pointer, all series, or no tooltip */
  readonly shows: 'one' | 'all' | 'none';
  readonly sort: 'none' | 'ascending' | 'descending';
  readonly hidesZeros: boolean;
}

/** Part of a series that its place in a legend or tooltip depends on */
interface ListedSeries {
  readonly values: readonly (number | undefined)[];
  readonly hiddenIn?: readonly string[] | undefined;
}

export const defaultTooltip: TooltipSettings = { shows: 'all', sort: 'descending', hidesZeros: false };

/** Returns the series of a tooltip at a step, in order. */
export const listTooltipSeries = <Series extends ListedSeries & { readonly isHidden: boolean }>(
  series: readonly Series[],
  index: number,
  { sort, hidesZeros }: TooltipSettings,
): readonly Series[] => {
  const shown = series.filter(({ isHidden, values, hiddenIn = [] }) => {
    const value = values[index];
    return !isHidden && value !== undefined && !hiddenIn.includes('tooltip') && !(hidesZeros && value === 0);
  });
  if (sort === 'none') return shown;
  const sign = sort === 'ascending' ? 1 : -1;
  return shown.sort((left, right) => sign * ((left.values[index] ?? 0) - (right.values[index] ?? 0)));
};

/** Returns the series of a legend with their indexes, in order; series without a value come last. */
export const sortLegend = <Series extends ListedSeries>(
  series: readonly Series[],
  partialIndexes: readonly number[],
  { sortBy, descending = true }: Pick<LegendSettings, 'sortBy' | 'descending'>,
): readonly { readonly one: Series; readonly index: number }[] => {
  const entries = series
    .map((one, index) => ({ one, index }))
    .filter(({ one: { hiddenIn = [] } }) => !hiddenIn.includes('legend'));
  if (sortBy === undefined || sortBy === null) return entries;
  const sign = descending ? -1 : 1;
  const last = descending ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const keys = new Map(entries.map(({ one, index }) => [index, reduceComplete(one.values, partialIndexes, sortBy)]));
  const getKey = (index: number): number => keys.get(index) ?? last;
  return entries.sort((left, right) => {
    const [leftKey, rightKey] = [getKey(left.index), getKey(right.index)];
    return leftKey === rightKey ? left.index - right.index : sign * (leftKey - rightKey);
  });
};

/** Returns the indexes of the partial steps at the ends. */
export const findPartialIndexes = (
  steps: readonly number[],
  partialSteps: readonly number[] = [],
): readonly number[] => {
  const partial = new Set(partialSteps);
  return [...new Set([0, steps.length - 1])].filter((index) => steps.length > 2 && partial.has(steps[index] ?? 0));
};

/** Returns the last value of the complete steps; of any step if there is no complete one. */
export const getLastComplete = (
  values: readonly (number | undefined)[],
  partialIndexes: readonly number[],
): number | undefined =>
  values.findLast((value, index) => value !== undefined && !partialIndexes.includes(index)) ??
  values.findLast((value) => value !== undefined);

/** Returns the indexes of the hidden series after a click on a legend entry. */
export const selectSeries = (
  hidden: ReadonlySet<number>,
  index: number,
  { count, isToggle }: { readonly count: number; readonly isToggle: boolean },
): ReadonlySet<number> => {
  if (isToggle)
    return hidden.has(index) ? new Set([...hidden].filter((one) => one !== index)) : new Set([...hidden, index]);
  const others = Array.from({ length: count }, (_, one) => one).filter((one) => one !== index);
  const isIsolated = !hidden.has(index) && others.every((one) => hidden.has(one));
  return isIsolated ? new Set() : new Set(others);
};
