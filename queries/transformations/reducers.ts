/** Reducers of a column to one value. */
import { blankValue, keyOf, numberOf, writtenNumber } from './table.ts';

const numbersOf = (values: readonly unknown[]): number[] =>
  values.flatMap((value) => {
    const number = blankValue(value) ? undefined : numberOf(value);
    return number === undefined ? [] : [number];
  });

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

const ofNumbers =
  (figure: (numbers: readonly number[]) => number | undefined) =>
  (values: readonly unknown[]): unknown => {
    const numbers = numbersOf(values);
    return numbers.length === 0 ? null : writtenNumber(figure(numbers));
  };

const quantile =
  (share: number) =>
  (numbers: readonly number[]): number => {
    const sorted = numbers.toSorted((one, other) => one - other);
    const place = share * (sorted.length - 1);
    const [below, above] = [sorted[Math.floor(place)] as number, sorted[Math.ceil(place)] as number];
    return below === above ? below : below + (above - below) * (place - Math.floor(place));
  };

const variance = (numbers: readonly number[]): number => {
  const mean = sumOf(numbers) / numbers.length;
  return sumOf(numbers.map((number) => (number - mean) ** 2)) / numbers.length;
};

const minOf = (numbers: readonly number[]): number => numbers.reduce((one, other) => Math.min(one, other));
const maxOf = (numbers: readonly number[]): number => numbers.reduce((one, other) => Math.max(one, other));
const first = (numbers: readonly number[]): number => numbers[0] as number;
const last = (numbers: readonly number[]): number => numbers.at(-1) as number;

/** Returns the increase of a counter; a decrease is a restart. */
const delta = (numbers: readonly number[]): number => {
  let sum = 0;
  for (const [index, number] of numbers.entries()) {
    const before = numbers[index - 1];
    if (before !== undefined) sum += number >= before ? number - before : number;
  }
  return sum;
};

/** Returns the smallest distance between neighbors. */
const step = (numbers: readonly number[]): number | undefined => {
  const distances = numbers.slice(1).map((number, index) => number - (numbers[index] as number));
  return distances.length === 0 ? undefined : minOf(distances);
};

const distinct = (values: readonly unknown[]): Map<string, unknown> =>
  new Map(values.map((value) => [keyOf(value), value]));

const reducers: Readonly<Record<string, (values: readonly unknown[]) => unknown>> = {
  last: (values) => values.at(-1) ?? null,
  'last-not-null': (values) => values.findLast((value) => !blankValue(value)) ?? null,
  first: (values) => values[0] ?? null,
  'first-not-null': (values) => values.find((value) => !blankValue(value)) ?? null,
  min: ofNumbers(minOf),
  max: ofNumbers(maxOf),
  mean: ofNumbers((numbers) => sumOf(numbers) / numbers.length),
  median: ofNumbers(quantile(0.5)),
  sum: ofNumbers(sumOf),
  count: (values) => values.length,
  range: ofNumbers((numbers) => maxOf(numbers) - minOf(numbers)),
  difference: ofNumbers((numbers) => last(numbers) - first(numbers)),
  'difference-percent': ofNumbers((numbers) =>
    first(numbers) === 0 ? undefined : (last(numbers) - first(numbers)) / first(numbers),
  ),
  delta: ofNumbers(delta),
  step: ofNumbers(step),
  variance: ofNumbers(variance),
  deviation: ofNumbers((numbers) => Math.sqrt(variance(numbers))),
  'distinct-count': (values) => distinct(values).size,
  'change-count': (values) => values.slice(1).filter((value, index) => keyOf(value) !== keyOf(values[index])).length,
  'all-nulls': (values) => values.every(blankValue),
  'all-zeros': (values) => values.length > 0 && values.every((value) => value === 0),
  'all-values': (values) => values,
  'unique-values': (values) => [...distinct(values).values()],
};

/** Reduces values to one. */
export const reduced = (reducer: string, values: readonly unknown[]): unknown =>
  Object.hasOwn(reducers, reducer)
    ? (reducers[reducer] as (values: readonly unknown[]) => unknown)(values)
    : ofNumbers(quantile(Number(reducer.slice(1)) / 100))(values);

/** Returns the type of a reducer's result. */
export const typeOfReduced = (
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
export const shortNameOf = (reducer: string): string => titles[reducer]?.[0] ?? reducer;

/** Returns the name of a column of reduced values. */
export const titleOfReducer = (reducer: string): string => titles[reducer]?.[1] ?? reducer;
