/** Returns the quantile of values, with linear interpolation between two values. Sorts the array; NaN comes first. */
export const computeValuesQuantile = (quantile: number, values: number[]): number => {
  if (values.length === 0 || Number.isNaN(quantile)) return Number.NaN;
  if (quantile < 0) return Number.NEGATIVE_INFINITY;
  if (quantile > 1) return Number.POSITIVE_INFINITY;
  values.sort((left, right) => {
    if (Number.isNaN(left)) return Number.isNaN(right) ? 0 : -1;
    return Number.isNaN(right) ? 1 : left - right || 0;
  });
  const rank = quantile * (values.length - 1);
  const lower = Math.max(0, Math.floor(rank));
  const upper = Math.min(values.length - 1, lower + 1);
  const weight = rank - Math.floor(rank);
  return (values[lower] as number) * (1 - weight) + (values[upper] as number) * weight;
};
