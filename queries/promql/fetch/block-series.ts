/** Builds series from a block of points. Runs in a worker, so it must not perform I/O. */
import { addToList } from '../../../schemas/add-to-list.ts';
import { fromNative, type Histogram } from '../histograms/histogram.ts';
import { computeStoredHint } from '../histograms/resets.ts';
import type { Labels, Matcher, NativeHistogram, Series } from '../series.ts';
import { compileTest } from '../syntax/matchers.ts';
import { formatWithoutExponent } from '../syntax/numbers.ts';
import { type FloatPoints, staleMarker, toCumulative } from './deltas.ts';
import { getArray, getNumbers } from './native-blocks.ts';
import type { PointBlock } from './point-blocks.ts';
import { joinColumn, PointRows, type RowRun } from './rows.ts';
import type { Window } from './scope.ts';
import type { PointTable, SelectedSeries, SeriesSource } from './select-series.ts';
import { DeltaHistograms, readHistogram } from './stored-histograms.ts';

interface BlockSamples extends FloatPoints {
  readonly histograms?: readonly (NativeHistogram | undefined)[] | undefined;
  /** Start times of the counters; 0 if unknown. */
  readonly starts?: Float64Array | undefined;
}

type Rows = Readonly<Partial<Record<PointTable, PointRows>>>;

/** Returns whether the numbers strictly increase. */
const isStrictlyIncreasing = (numbers: Float64Array): boolean => {
  for (let index = 1; index < numbers.length; index++)
    if ((numbers[index - 1] as number) >= (numbers[index] as number)) return false;
  return true;
};

const unlimitedWindow: Window = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };

/** Returns the points after `fromMs` and up to `toMs`, and only the first of several at one time. */
const clipToWindow = (samples: BlockSamples, { fromMs, toMs }: Window): BlockSamples => {
  const { times, values, histograms, starts } = samples;
  const isWithin = (times[0] ?? toMs) > fromMs && (times.at(-1) ?? toMs) <= toMs;
  if (isWithin && isStrictlyIncreasing(times)) return samples;
  const indexes: number[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < times.length; index++) {
    const time = times[index] as number;
    if (time <= fromMs || time > toMs || time <= last) continue;
    indexes.push(index);
    last = time;
  }
  const clipped = { times: new Float64Array(indexes.length), values: new Float64Array(indexes.length) };
  for (const [to, from] of indexes.entries()) {
    clipped.times[to] = times[from] as number;
    // `set` copies the memory, so that a NaN retains its bits.
    clipped.values.set(values.subarray(from, from + 1), to);
  }
  return {
    ...clipped,
    ...(histograms && { histograms: indexes.map((index) => histograms[index]) }),
    ...(starts && { starts: Float64Array.from(indexes, (index) => starts[index] as number) }),
  };
};

/** Merges points of several sources in the order of time; at equal times the first source wins. */
const mergeSources = (sources: readonly BlockSamples[]): BlockSamples => {
  const nonEmptySources = sources.filter(({ times }) => times.length > 0);
  const [first = { times: new Float64Array(0), values: new Float64Array(0) }] = nonEmptySources;
  if (nonEmptySources.length <= 1) return first;
  const positions = nonEmptySources.flatMap((samples, source) =>
    Array.from(samples.times, (time, at) => ({ time, source, at })),
  );
  positions.sort((left, right) => left.time - right.time || left.source - right.source);
  const times = Float64Array.from(positions, ({ time }) => time);
  const values = new Float64Array(positions.length);
  for (const [to, { source, at }] of positions.entries())
    values.set((nonEmptySources[source] as BlockSamples).values.subarray(at, at + 1), to);
  const all = positions.map(({ source, at }) => ({ samples: nonEmptySources[source] as BlockSamples, at }));
  return {
    times,
    values,
    ...(nonEmptySources.some(({ histograms }) => histograms !== undefined) && {
      histograms: all.map(({ samples, at }) => samples.histograms?.[at]),
    }),
    ...(nonEmptySources.some(({ starts }) => starts !== undefined) && {
      starts: Float64Array.from(all, ({ samples, at }) => samples.starts?.[at] ?? 0),
    }),
  };
};

/** Returns start times of counters, if they were read and do not belong to deltas, which restart by definition. */
const readStarts = (runs: readonly RowRun[], isDelta: boolean): { readonly starts?: Float64Array } =>
  !isDelta && runs[0]?.block.columns.has('start') ? { starts: joinColumn(runs, 'start') } : {};

const readTimes = (runs: readonly RowRun[]): Float64Array => joinColumn(runs, 'time');

/** Returns the numbers of a column, with stale markers for points without a value. */
const readWithStaleMarkers = (runs: readonly RowRun[], name: string): Float64Array => {
  const values = joinColumn(runs, name).slice();
  const flags = joinColumn(runs, 'flags');
  for (let at = 0; at < flags.length; at++) if (((flags[at] as number) & 1) !== 0) values.set(staleMarker, at);
  return values;
};

const readNativeSamples = (runs: readonly RowRun[], isDelta: boolean): BlockSamples => {
  const times = readTimes(runs);
  const values = new Float64Array(times.length);
  const flags = joinColumn(runs, 'flags');
  const deltas = new DeltaHistograms();
  const histograms: (NativeHistogram | undefined)[] = [];
  let before = Number.NaN;
  for (const { block, start, end } of runs)
    for (let row = start; row < end; row++) {
      const at = histograms.length;
      const time = times[at] as number;
      if (((flags[at] as number) & 1) !== 0) {
        values.set(staleMarker, at);
        histograms.push(undefined);
      } else if (!isDelta) histograms.push(readHistogram(block, row));
      // A duplicate counts once.
      else histograms.push(time === before ? histograms.at(-1) : deltas.add(block, row, time));
      before = time;
    }
  return { times, values, histograms, ...readStarts(runs, isDelta) };
};

/** Returns samples with the reset hints that Prometheus' storage would assign. */
const addResetHints = (samples: BlockSamples): BlockSamples => {
  let before: Histogram | undefined;
  const histograms = samples.histograms?.map((native) => {
    if (native === undefined) {
      before = undefined;
      return undefined;
    }
    const histogram = fromNative(native);
    const resetHint = computeStoredHint(histogram, before);
    before = histogram.withHint(resetHint);
    return { ...native, resetHint };
  });
  return { ...samples, histograms };
};

const removeDuplicates = (samples: FloatPoints): FloatPoints => clipToWindow(samples, unlimitedWindow);
const toCounter = (samples: FloatPoints, isDelta: boolean): FloatPoints =>
  isDelta ? toCumulative(removeDuplicates(samples)) : samples;

/** Reads the points of a column, except for the rows whose column `has` is 0. */
const readExisting = (runs: readonly RowRun[], name: string, has?: string): FloatPoints => {
  const all = { times: readTimes(runs), values: readWithStaleMarkers(runs, name) };
  if (has === undefined) return all;
  const presence = joinColumn(runs, has);
  if (presence.every((value) => value === 1)) return all;
  const presentSteps = Array.from(presence.keys()).filter((at) => presence[at] === 1);
  return {
    times: Float64Array.from(presentSteps, (at) => all.times[at] as number),
    values: Float64Array.from(presentSteps, (at) => all.values[at] as number),
  };
};

const readSource = ({ id, part, tables, isDelta }: SeriesSource, rows: Rows): BlockSamples => {
  const table = tables[0] ?? 'samples';
  const runs = rows[table]?.getRuns(id) ?? [];
  switch (part) {
    case 'native':
      return isDelta ? readNativeSamples(runs, isDelta) : addResetHints(readNativeSamples(runs, isDelta));
    case 'count':
      return toCounter(readExisting(runs, 'total'), isDelta);
    case 'sum':
      return toCounter(readExisting(runs, 'sum_of', table === 'histograms' ? 'has_sum' : undefined), isDelta);
    case 'presence': {
      const times = readTimes(runs);
      return { times, values: new Float64Array(times.length).fill(1) };
    }
    default: {
      const points = { times: readTimes(runs), values: joinColumn(runs, 'value') };
      const numbers = { ...toCounter(points, isDelta), ...readStarts(runs, isDelta) };
      return tables.includes('histograms')
        ? addResetHints(mergeSources([numbers, readNativeSamples(rows.histograms?.getRuns(id) ?? [], false)]))
        : numbers;
    }
  }
};

/** Series of the buckets or quantiles of one series: values by the text of `le` or `quantile`. */
class TextSeries {
  readonly #byText = new Map<string, { times: number[]; values: number[]; stale: number[] }>();

  add(text: string, time: number, value: number | undefined): void {
    const existing = this.#byText.get(text) ?? { times: [], values: [], stale: [] };
    this.#byText.set(text, existing);
    if (value === undefined) existing.stale.push(existing.times.length);
    existing.times.push(time);
    existing.values.push(value ?? Number.NaN);
  }

  /** Adds a stale marker to all series, for a point without a value. */
  end(time: number): void {
    for (const text of this.#byText.keys()) this.add(text, time, undefined);
  }

  *all(): Iterable<readonly [string, FloatPoints]> {
    for (const [text, { times, values, stale: staleIndexes }] of this.#byText) {
      const points = { times: Float64Array.from(times), values: Float64Array.from(values) };
      for (const at of staleIndexes) points.values.set(staleMarker, at);
      yield [text, points];
    }
  }
}

/** Visits each row with a value; a row without a value adds a stale marker to all series. */
const visitValues = (
  runs: readonly RowRun[],
  textSeries: TextSeries,
  visit: (block: RowRun['block'], row: number, time: number) => void,
): void => {
  for (const { block, start, end } of runs)
    for (let row = start; row < end; row++) {
      const time = getNumbers(block, 'time')[row] as number;
      if (((getNumbers(block, 'flags')[row] as number) & 1) !== 0) textSeries.end(time);
      else visit(block, row, time);
    }
};

const addBuckets = (runs: readonly RowRun[], textSeries: TextSeries): void =>
  visitValues(runs, textSeries, (block, row, time) => {
    const bounds = getArray(block, 'bounds', row);
    const counts = getArray(block, 'counts', row);
    let cumulativeCount = 0;
    for (let at = 0; at < bounds.length && at < counts.length; at++) {
      cumulativeCount += counts[at] as number;
      textSeries.add(formatWithoutExponent(bounds[at] as number), time, cumulativeCount);
    }
    textSeries.add('+Inf', time, getNumbers(block, 'total')[row] as number);
  });

const addQuantiles = (runs: readonly RowRun[], textSeries: TextSeries): void =>
  visitValues(runs, textSeries, (block, row, time) => {
    const values = getArray(block, 'quantile_values', row);
    for (const [at, quantile] of getArray(block, 'quantiles', row).entries())
      textSeries.add(formatWithoutExponent(quantile), time, values[at] as number);
  });

const withLabel = (labels: Labels, name: string, value: string): Labels =>
  Object.fromEntries(
    [...Object.entries(labels), [name, value] as const].sort(([left], [right]) => (left < right ? -1 : 1)),
  );

const expandSeries = function* (
  { labels, sources }: SelectedSeries,
  rows: Rows,
  matchers: readonly Matcher[],
): Iterable<{ readonly labels: Labels; readonly samples: BlockSamples }> {
  const name = sources[0]?.part === 'buckets' ? 'le' : 'quantile';
  const tests = matchers.filter((matcher) => matcher.name === name).map(compileTest);
  const byText = new Map<string, FloatPoints[]>();
  for (const { id, part, isDelta } of sources) {
    const textSeries = new TextSeries();
    if (part === 'buckets') addBuckets(rows.histograms?.getRuns(id) ?? [], textSeries);
    else addQuantiles(rows.summaries?.getRuns(id) ?? [], textSeries);
    for (const [text, points] of textSeries.all()) {
      if (!tests.every((test) => test(text))) continue;
      addToList(byText, text, toCounter(points, isDelta));
    }
  }
  for (const [text, points] of byText) yield { labels: withLabel(labels, name, text), samples: mergeSources(points) };
};

/** Yields the series of a block with their samples within the window, and omits series without samples. */
export const readBlockSeries = function* (
  { series, blocks }: PointBlock,
  window: Window,
  matchers: readonly Matcher[],
): Iterable<Series> {
  const rows: Rows = Object.fromEntries(Object.entries(blocks).map(([table, bytes]) => [table, new PointRows(bytes)]));
  const toSeries = (labels: Labels, samples: BlockSamples): Series | undefined => {
    const { times, values, histograms, starts: startTimes } = clipToWindow(samples, window);
    if (times.length === 0) return undefined;
    return { labels, times, values, ...(histograms && { histograms }), ...(startTimes && { startTimes }) };
  };
  for (const selectedSeries of series) {
    const part = selectedSeries.sources[0]?.part;
    if (part === 'buckets' || part === 'quantiles') {
      for (const { labels, samples } of expandSeries(selectedSeries, rows, matchers)) {
        const series = toSeries(labels, samples);
        if (series !== undefined) yield series;
      }
      continue;
    }
    const series = toSeries(
      selectedSeries.labels,
      mergeSources(selectedSeries.sources.map((source) => readSource(source, rows))),
    );
    if (series !== undefined) yield series;
  }
};
