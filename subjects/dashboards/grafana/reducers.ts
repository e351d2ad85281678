/** Reducers of columns, and their names in Grafana. */
import { type Codec, lookUp, nameCodec } from './lens.ts';

const reducersByGrafanaName = {
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
const reducerNames = nameCodec(reducersByGrafanaName);
/** Names in older versions. */
const legacyReducers: Readonly<Record<string, string>> = {
  avg: 'mean',
  current: 'last',
  total: 'sum',
  lastNonNull: 'last-not-null',
};

const isPercentile = (value: unknown): value is string => typeof value === 'string' && /^p(?:100|\d{1,2})$/.test(value);

export const reducer: Codec = {
  read: (value) => (isPercentile(value) ? value : (reducerNames.read(value) ?? lookUp(legacyReducers, String(value)))),
  write: (value) => (isPercentile(value) ? value : reducerNames.write(value)),
};

/** Titles of reducers, by which legends sort. */
const reducersByTitle: Readonly<Record<string, string>> = {
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
const titleCodec = nameCodec({ ...reducersByTitle, Avg: undefined, Current: undefined });
export const reducerTitle: Codec = {
  read: (value) =>
    typeof value === 'string' && Object.hasOwn(reducersByTitle, value) ? reducersByTitle[value] : undefined,
  write: titleCodec.write,
};
