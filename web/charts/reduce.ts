/** Reduces the values of a panel to one number */

export const toNumberOrUndefined = (value: unknown): number | undefined => {
  if (value === null || value === undefined || value === '' || typeof value === 'object') return undefined;
  const number = Number(value);
  return Number.isNaN(number) ? undefined : number;
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
const variance = (values: readonly number[]): number => {
  const average = mean(values);
  return mean(values.map((value) => (value - average) ** 2));
};
const quantile = (values: readonly number[], fraction: number): number => {
  const sorted = [...values].sort((one, other) => one - other);
  const position = (sorted.length - 1) * fraction;
  const [below = 0, above = 0] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return below + (above - below) * (position - Math.floor(position));
};
const countChanges = (values: readonly number[]): number =>
  values.filter((value, at) => at > 0 && value !== values[at - 1]).length;
/** Returns the increase of a counter across its resets. */
const sumIncreases = (values: readonly number[]): number =>
  sum(
    values.map((value, at) => (at === 0 ? 0 : value >= (values[at - 1] ?? 0) ? value - (values[at - 1] ?? 0) : value)),
  );
const first = (values: readonly number[]): number => values[0] ?? 0;
const last = (values: readonly number[]): number => values.at(-1) ?? 0;

/** Reducers for non-empty lists without missing values */
const reducers: Readonly<Record<string, (values: readonly number[]) => number>> = {
  last,
  'last-not-null': last,
  first,
  'first-not-null': first,
  mean,
  sum,
  variance,
  min: (values) => values.reduce((min, value) => Math.min(min, value)),
  max: (values) => values.reduce((max, value) => Math.max(max, value)),
  median: (values) => quantile(values, 0.5),
  count: ({ length }) => length,
  range: (values) => values.reduce((a, b) => Math.max(a, b)) - values.reduce((a, b) => Math.min(a, b)),
  difference: (values) => last(values) - first(values),
  'difference-percent': (values) => (100 * (last(values) - first(values))) / first(values),
  delta: sumIncreases,
  deviation: (values) => Math.sqrt(variance(values)),
  'distinct-count': (values) => new Set(values).size,
  'change-count': countChanges,
};

/**
 * Returns the result of a panel reducer, or `undefined` if there is no numeric value. Unknown reducers return the last
 * value.
 */
export const reduceValues = (values: readonly unknown[], reducer: string): number | undefined => {
  if (reducer === 'last') return toNumberOrUndefined(values.at(-1));
  if (reducer === 'first') return toNumberOrUndefined(values[0]);
  const numbers = values.map(toNumberOrUndefined).filter((value) => value !== undefined);
  if (reducer === 'count') return values.length;
  if (numbers.length === 0) return undefined;
  const percentile = /^p(\d{1,3})$/.exec(reducer)?.[1];
  if (percentile !== undefined) return quantile(numbers, Number(percentile) / 100);
  return (reducers[reducer] ?? last)(numbers);
};

/** Reduces the values of the complete steps. */
export const reduceComplete = (
  values: readonly unknown[],
  partialIndexes: readonly number[],
  reducer: string,
): number | undefined =>
  reduceValues(
    values.filter((_, index) => !partialIndexes.includes(index)),
    reducer,
  );

/** Reducers whose result includes partial steps, because it would miss events without them */
const totals = new Set(['sum', 'count', 'max']);

interface StepValues {
  readonly values: readonly unknown[];
  /** Time of each value, if the values are a series */
  readonly times?: readonly number[];
  /** Times of the values that cover a step only partly */
  readonly partialSteps?: readonly number[];
}

/** Reduces values. A step that the range covers only partly is no last, first or lowest value. */
export const reduceSteps = ({ values, times, partialSteps = [] }: StepValues, reducer: string): number | undefined => {
  if (times === undefined || partialSteps.length === 0 || totals.has(reducer)) return reduceValues(values, reducer);
  const complete = values.filter((_, index) => !partialSteps.includes(times[index] ?? Number.NaN));
  return reduceValues(complete.length === 0 ? values : complete, reducer);
};
