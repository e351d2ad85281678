/** Which steps of a chart are complete, and which of its series are shown */

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
