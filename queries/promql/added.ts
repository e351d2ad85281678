/** Samples that count as stored before they are: of series that a rule group has just recorded. */
import type { Labels, Selection, Series } from './series.ts';
import { testOf } from './syntax/matchers.ts';

const keyOf = (labels: Labels): string =>
  JSON.stringify(Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1)));

/** Returns the added series of a selection. Each has one sample. */
export const addedTo = ({ matchers, fromMs, toMs }: Selection, added: readonly Series[]): readonly Series[] => {
  const tests = matchers.map((matcher) => ({ name: matcher.name, test: testOf(matcher) }));
  return added.filter(({ labels, times: [time = 0] }) => {
    if (time <= fromMs || time > toMs) return false;
    return tests.every(({ name, test }) => test(labels[name] ?? ''));
  });
};

const joined = (one: Float64Array, other: Float64Array): Float64Array => {
  const both = new Float64Array(one.length + other.length);
  // Copied as memory, so that a NaN retains its bits.
  both.set(one);
  both.set(other, one.length);
  return both;
};

/** Returns a series with the samples after its last one; samples stored meanwhile are already included. */
const continued = (stored: Series, added: Series): Series => {
  if ((stored.times.at(-1) ?? Number.NEGATIVE_INFINITY) >= (added.times[0] as number)) return stored;
  const hasHistograms = stored.histograms !== undefined || added.histograms !== undefined;
  const histogramsOf = ({ histograms, times }: Series) => histograms ?? Array.from(times, () => undefined);
  return {
    labels: stored.labels,
    times: joined(stored.times, added.times),
    values: joined(stored.values, added.values),
    ...(hasHistograms && { histograms: [...histogramsOf(stored), ...histogramsOf(added)] }),
    ...(stored.starts && { starts: joined(stored.starts, new Float64Array(added.times.length)) }),
  };
};

/** Yields the series of a selection, as if these samples were stored. */
export const withAdded = function* (
  stored: Iterable<Series>,
  selection: Selection,
  added: readonly Series[],
): Iterable<Series> {
  const left = new Map(addedTo(selection, added).map((series) => [keyOf(series.labels), series]));
  if (left.size === 0) return yield* stored;
  for (const series of stored) {
    const key = keyOf(series.labels);
    const own = left.get(key);
    left.delete(key);
    yield own === undefined ? series : continued(series, own);
  }
  yield* left.values();
};
