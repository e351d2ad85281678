/** Reducers of columns, and their names in Grafana. */
import { type Codec, entry, names } from './lens.ts';

const pairs = {
  last: 'last',
  lastNotNull: 'last-not-null',
  first: 'first',
  firstNotNull: 'first-not-null',
  min: 'min',
  max: 'max',
  mean: 'mean',
  median: 'median',
  sum: 'sum',
  count: 'count',
  range: 'range',
  diff: 'difference',
  diffperc: 'difference-percent',
  delta: 'delta',
  step: 'step',
  variance: 'variance',
  stdDev: 'deviation',
  distinctCount: 'distinct-count',
  changeCount: 'change-count',
  allIsNull: 'all-nulls',
  allIsZero: 'all-zeros',
  allValues: 'all-values',
  uniqueValues: 'unique-values',
};
const named = names(pairs);
/** Names in older versions. */
const old: Readonly<Record<string, string>> = {
  avg: 'mean',
  current: 'last',
  total: 'sum',
  lastNonNull: 'last-not-null',
};

const isPercentile = (value: unknown): value is string => typeof value === 'string' && /^p(?:100|\d{1,2})$/.test(value);

export const reducer: Codec = {
  read: (value) => (isPercentile(value) ? value : (named.read(value) ?? entry(old, String(value)))),
  write: (value) => (isPercentile(value) ? value : named.write(value)),
};

/** Titles of reducers, by which legends sort. */
const titles: Readonly<Record<string, string>> = {
  Last: 'last',
  'Last *': 'last-not-null',
  First: 'first',
  'First *': 'first-not-null',
  Min: 'min',
  Max: 'max',
  Mean: 'mean',
  Avg: 'mean',
  Current: 'last',
  Median: 'median',
  Total: 'sum',
  Count: 'count',
  Range: 'range',
  Difference: 'difference',
  'Difference percent': 'difference-percent',
  Delta: 'delta',
  Step: 'step',
  Variance: 'variance',
  StdDev: 'deviation',
  'Distinct count': 'distinct-count',
  'Change count': 'change-count',
};
const titled = names({ ...titles, Avg: undefined, Current: undefined });
export const reducerTitle: Codec = {
  read: (value) => (typeof value === 'string' && Object.hasOwn(titles, value) ? titles[value] : undefined),
  write: titled.write,
};
