/** Adds samples that are not stored yet to stored series: those that a rule group has just recorded. */
import type { Labels, Selection, Series } from './series.ts';
import { compileTest } from './syntax/matchers.ts';

const toLabelsKey = (labels: Labels): string =>
  JSON.stringify(Object.entries(labels).sort(([left], [right]) => (left < right ? -1 : 1)));

/** Returns the additional series that match a selection. Each has one sample. */
export const selectAdditionalSeries = (
  { matchers, fromMs, toMs }: Selection,
  additionalSeries: readonly Series[],
): readonly Series[] => {
  const tests = matchers.map((matcher) => ({ name: matcher.name, test: compileTest(matcher) }));
  return additionalSeries.filter(({ labels, times: [time = 0] }) => {
    if (time <= fromMs || time > toMs) return false;
    return tests.every(({ name, test }) => test(labels[name] ?? ''));
  });
};

const concatenate = (left: Float64Array, right: Float64Array): Float64Array => {
  const result = new Float64Array(left.length + right.length);
  // `set` copies the memory, so that a NaN retains its bits.
  result.set(left);
  result.set(right, left.length);
  return result;
};

/** Appends additional samples to a stored series, unless they have been stored in the meantime. */
const appendSamples = (storedSeries: Series, additionalSeries: Series): Series => {
  if ((storedSeries.times.at(-1) ?? Number.NEGATIVE_INFINITY) >= (additionalSeries.times[0] as number))
    return storedSeries;
  const hasHistograms = storedSeries.histograms !== undefined || additionalSeries.histograms !== undefined;
  const histogramsOrUndefined = ({ histograms, times }: Series) => histograms ?? Array.from(times, () => undefined);
  return {
    labels: storedSeries.labels,
    times: concatenate(storedSeries.times, additionalSeries.times),
    values: concatenate(storedSeries.values, additionalSeries.values),
    ...(hasHistograms && {
      histograms: [...histogramsOrUndefined(storedSeries), ...histogramsOrUndefined(additionalSeries)],
    }),
    ...(storedSeries.startTimes && {
      startTimes: concatenate(storedSeries.startTimes, new Float64Array(additionalSeries.times.length)),
    }),
  };
};

/** Yields the series of a selection, as if these samples were stored. */
export const mergeAdditionalSeries = function* (
  storedSeries: Iterable<Series>,
  selection: Selection,
  additionalSeries: readonly Series[],
): Iterable<Series> {
  const remaining = new Map(
    selectAdditionalSeries(selection, additionalSeries).map((series) => [toLabelsKey(series.labels), series]),
  );
  if (remaining.size === 0) return yield* storedSeries;
  for (const series of storedSeries) {
    const key = toLabelsKey(series.labels);
    const additional = remaining.get(key);
    remaining.delete(key);
    yield additional === undefined ? series : appendSamples(series, additional);
  }
  yield* remaining.values();
};
