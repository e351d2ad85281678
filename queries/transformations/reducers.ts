/** Reducers of a column to one value. */
import { formatResponseNumber, isBlank, parseNumber, toValueKey } from './table.ts';

const toNumbers = (values: readonly unknown[]): number[] =>
  values.flatMap((value) => {
    const number = isBlank(value) ? undefined : parseNumber(value);
    return number === undefined ? [] : [number];
  });

const computeSum = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

const reduceNumbers =
  (compute: (numbers: readonly number[]) => number | undefined) =>
  (values: readonly unknown[]): unknown => {
    const numbers = toNumbers(values);
    return numbers.length === 0 ? null : formatResponseNumber(compute(numbers));
  };

const createQuantile =
  (share: number) =>
  (numbers: readonly number[]): number => {
    const sorted = numbers.toSorted((left, right) => left - right);
    const position = share * (sorted.length - 1);
    const [below, above] = [sorted[Math.floor(position)] as number, sorted[Math.ceil(position)] as number];
    return below === above ? below : below + (above - below) * (position - Math.floor(position));
  };

const computeVariance = (numbers: readonly number[]): number => {
  const mean = computeSum(numbers) / numbers.length;
  return computeSum(numbers.map((number) => (number - mean) ** 2)) / numbers.length;
};

const computeMin = (numbers: readonly number[]): number => numbers.reduce((left, right) => Math.min(left, right));
const computeMax = (numbers: readonly number[]): number => numbers.reduce((left, right) => Math.max(left, right));
const getFirst = (numbers: readonly number[]): number => numbers[0] as number;
const getLast = (numbers: readonly number[]): number => numbers.at(-1) as number;

/** Returns the increase of a counter; a decrease is a restart. */
const computeCounterIncrease = (numbers: readonly number[]): number => {
  let sum = 0;
  for (const [index, number] of numbers.entries()) {
    const previous = numbers[index - 1];
    if (previous !== undefined) sum += number >= previous ? number - previous : number;
  }
  return sum;
};

/** Returns the smallest difference between adjacent numbers. */
const computeSmallestStep = (numbers: readonly number[]): number | undefined => {
  const distances = numbers.slice(1).map((number, index) => number - (numbers[index] as number));
  return distances.length === 0 ? undefined : computeMin(distances);
};

const collectDistinctValues = (values: readonly unknown[]): Map<string, unknown> =>
  new Map(values.map((value) => [toValueKey(value), value]));

const reducers: Readonly<Record<string, (values: readonly unknown[]) => unknown>> = {
  last: (values) => values.at(-1) ?? null,
  'last-not-null': (values) => values.findLast((value) => !isBlank(value)) ?? null,
  first: (values) => values[0] ?? null,
  'first-not-null': (values) => values.find((value) => !isBlank(value)) ?? null,
  min: reduceNumbers(computeMin),
  max: reduceNumbers(computeMax),
  mean: reduceNumbers((numbers) => computeSum(numbers) / numbers.length),
  median: reduceNumbers(createQuantile(0.5)),
  sum: reduceNumbers(computeSum),
  count: (values) => values.length,
  range: reduceNumbers((numbers) => computeMax(numbers) - computeMin(numbers)),
  difference: reduceNumbers((numbers) => getLast(numbers) - getFirst(numbers)),
  'difference-percent': reduceNumbers((numbers) =>
    getFirst(numbers) === 0 ? undefined : (getLast(numbers) - getFirst(numbers)) / getFirst(numbers),
  ),
  delta: reduceNumbers(computeCounterIncrease),
  step: reduceNumbers(computeSmallestStep),
  variance: reduceNumbers(computeVariance),
  deviation: reduceNumbers((numbers) => Math.sqrt(computeVariance(numbers))),
  'distinct-count': (values) => collectDistinctValues(values).size,
  'change-count': (values) =>
    values.slice(1).filter((value, index) => toValueKey(value) !== toValueKey(values[index])).length,
  'all-nulls': (values) => values.every(isBlank),
  'all-zeros': (values) => values.length > 0 && values.every((value) => value === 0),
  'all-values': (values) => values,
  'unique-values': (values) => [...collectDistinctValues(values).values()],
};

/** Reduces values to one. */
export const reduceValues = (reducer: string, values: readonly unknown[]): unknown =>
  Object.hasOwn(reducers, reducer)
    ? (reducers[reducer] as (values: readonly unknown[]) => unknown)(values)
    : reduceNumbers(createQuantile(Number(reducer.slice(1)) / 100))(values);

/** Returns the type of a reducer's result. */
export const getReducedType = (
  reducer: string,
  type: 'text' | 'number' | 'boolean' | 'time' | 'duration' | 'json',
): typeof type => {
  if (/^(?:last|first)/.test(reducer)) return type;
  if (/^all-values|^unique/.test(reducer)) return 'json';
  if (reducer.startsWith('all-')) return 'boolean';
  return /^(?:min|max|mean|median|p\d+)$/.test(reducer) && type === 'time' ? 'time' : 'number';
};

/** Column names of reducers, equal to Grafana's, so that imported dashboards find their columns. */
const titles: Readonly<Record<string, readonly [short: string, title: string]>> = {
  last: ['last', 'Last'],
  'last-not-null': ['lastNotNull', 'Last *'],
  first: ['first', 'First'],
  'first-not-null': ['firstNotNull', 'First *'],
  min: ['min', 'Min'],
  max: ['max', 'Max'],
  mean: ['mean', 'Mean'],
  median: ['median', 'Median'],
  sum: ['sum', 'Total'],
  count: ['count', 'Count'],
  range: ['range', 'Range'],
  difference: ['diff', 'Difference'],
  'difference-percent': ['diffperc', 'Difference percent'],
  delta: ['delta', 'Delta'],
  step: ['step', 'Step'],
  variance: ['variance', 'Variance'],
  deviation: ['stdDev', 'StdDev'],
  'distinct-count': ['distinctCount', 'Distinct count'],
  'change-count': ['changeCount', 'Change count'],
  'all-nulls': ['allIsNull', 'All nulls'],
  'all-zeros': ['allIsZero', 'All zeros'],
  'all-values': ['allValues', 'All values'],
  'unique-values': ['uniqueValues', 'All unique values'],
};

/** Returns the suffix of a column name: `Value (lastNotNull)`. */
export const getShortName = (reducer: string): string => titles[reducer]?.[0] ?? reducer;

/** Returns the name of a column of reduced values. */
export const getReducerTitle = (reducer: string): string => titles[reducer]?.[1] ?? reducer;
